"""`authority config`: the settings in effect, and where each came from."""

from authority.bootstrap.connections import shared_out
from authority.cli.arguments import AsJson
from authority.cli.output import emit, note
from authority.cli.tables import table
from authority.config import Setting, settings_in_effect, unknown_variables
from authority.config_reading import variable


def config(*, as_json: AsJson = False) -> None:
    """Show every setting that `authority serve` would use here, and where it came from.

    The environment wins over the file that AUTHORITY_CONFIG names. URLs hold passwords and are not shown; each may
    come from a file of its own, named by AUTHORITY_DATABASE_URL_FILE and so on. Without the two servers an embedded
    authority is meant, which has its own.
    """
    found = list(settings_in_effect(shared_out))
    unknown = unknown_variables()
    if as_json:
        emit(
            {
                "settings": [
                    {"name": variable(setting.name), "value": setting.value, "from": setting.origin}
                    for setting in found
                ],
                "unknown": [{"name": name, "nearest": near or None} for name, near in unknown],
            }
        )
        return
    table(
        ("SETTING", "VALUE", "FROM"), ((variable(setting.name), _shown(setting), setting.origin) for setting in found)
    )
    for name, near in unknown:
        note(said_of_unknown(name, near))


def said_of_unknown(name: str, near: str) -> str:
    """What an operator is told of a variable that nothing listens to."""
    return f"{name} is no setting{f': did you mean {near}?' if near else ''}"


def _shown(setting: Setting) -> str:
    if setting.value is None:
        return "not set"
    return str(setting.value).lower() if isinstance(setting.value, bool) else str(setting.value)
