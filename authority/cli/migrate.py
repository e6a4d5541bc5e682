"""`authority migrate`."""

from authority.bootstrap.operator import migrate_database
from authority.cli.arguments import AsJson, DataFolder
from authority.cli.operating import operator_settings
from authority.cli.output import emit, printable, say
from authority.config import load_operator_settings


def migrate(*, data: DataFolder = None, as_json: AsJson = False) -> None:
    """Bring the database of AUTHORITY_ADMIN_DATABASE_URL to this version. May be run at any time, by many at once.

    The user of AUTHORITY_DATABASE_URL may serve from then on: authority_service gets its login and password from there,
    any other user the powers that serving needs.
    """
    settings = operator_settings(data)
    # An authority that is served from a folder has let its service in; the environment's URL is another one's.
    is_served = data is not None or load_operator_settings().admin_database_url is None
    done = migrate_database(settings.model_copy(update={"database_url": None}) if is_served else settings)
    if as_json:
        emit({"applied": done.applied, "service": done.service})
        return
    for name in done.applied:
        say(f"applied {name}")
    say("the database was at this version already" if not done.applied else "the database is at this version")
    if not is_served:
        say(printable(done.told))
