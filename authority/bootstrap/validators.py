"""Which validators and profiles this process has, by its settings."""

from pathlib import Path

from authority.config import SettingsError
from authority.validators.catalog import built_in
from authority.validators.judging import InstalledValidators
from authority.validators.profile_file import ProfilesUnusable, read_profiles
from authority.validators.profiles import built_in_panels


def installed_validators(profiles: Path | None) -> InstalledValidators:
    """The built-in profiles whose validators are installed, and those of the operator's file.

    Raises SettingsError for a file that cannot be used.
    """
    found = built_in()
    panels = built_in_panels(found)
    if profiles is not None:
        try:
            panels |= read_profiles(profiles, found)
        except ProfilesUnusable as error:
            raise SettingsError(f"AUTHORITY_PROFILES: {error}") from error
    return InstalledValidators(panels)
