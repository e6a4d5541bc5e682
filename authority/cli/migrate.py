"""`authority migrate`."""

from authority.bootstrap.operator import migrate_database
from authority.cli.arguments import AsJson, DataFolder
from authority.cli.operating import operator_settings
from authority.cli.output import emit, say


def migrate(*, data: DataFolder = None, as_json: AsJson = False) -> None:
    """Bring the database of AUTHORITY_ADMIN_DATABASE_URL to this version. May be run at any time, by many at once."""
    applied = migrate_database(operator_settings(data))
    if as_json:
        emit({"applied": applied})
        return
    for name in applied:
        say(f"applied {name}")
    say("the database was at this version already" if not applied else "the database is at this version")
