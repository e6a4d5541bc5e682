"""Which validators and profiles this process has, by its settings."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from authority.config import SettingsError
from authority.domain.material import Material
from authority.domain.validation import Finding
from authority.signing.key_folder import KeyFolder
from authority.signing.key_ring import KeyRing
from authority.signing.statements import StatementReader
from authority.validators.catalog import Missing, ValidatorUnusable, brought_along, built_in, loaded
from authority.validators.judging import InstalledValidators
from authority.validators.profile_file import ProfilesUnusable, read_hosted, read_profiles
from authority.validators.profiles import built_in_panels, panel


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


@dataclass(frozen=True, slots=True)
class ListedValidator:
    """A validator that there is, or that there could be: `problem` says then what is missing, or wrong."""

    name: str
    version: str
    origin: str
    problem: str = ""


def listed_validators(profiles: Path | None) -> list[ListedValidator]:
    """Those built in, those of other packages, which are imported for it, and those that the operator's file names.

    Raises SettingsError as `installed_validators`.
    """
    return [*_built_in(), *_brought_along(), *_hosted(profiles)]


@dataclass(frozen=True, slots=True)
class Tried:
    """What a validator said, and how long it took, without what it had to import."""

    finding: Finding
    milliseconds: float


async def try_content(validators: InstalledValidators, profile: str, content: bytes, media_type: str) -> list[Tried]:
    """Has each validator of a profile judge a content, one after the other. What it imports is not timed."""
    reader = StatementReader(KeyRing(KeyFolder(Path())))
    material = Material(
        content=content, media_type=media_type, content_problem=await reader.content_problem(content, media_type)
    )
    asked = next(one for one in validators.profiles() if one.profile.name == profile)
    single = InstalledValidators({one.name.name: panel(one.name.name, "", [one]) for one in asked.validators})
    try:
        return [await _tried(single, one.name.name, material) for one in asked.validators]
    finally:
        await single.close()


async def _tried(single: InstalledValidators, name: str, material: Material) -> Tried:
    alone = single.profile(name)
    assert alone
    await single.load(alone)
    begin = time.perf_counter()
    (finding,) = await single.judge(alone, material)
    return Tried(finding, (time.perf_counter() - begin) * 1_000)


def _built_in() -> Iterator[ListedValidator]:
    for name, one in built_in().items():
        if isinstance(one, Missing):
            yield ListedValidator(name, "", "built in", f"not installed: {one.remedy}")
        else:
            yield ListedValidator(name, one.name.version, one.origin)


def _brought_along() -> Iterator[ListedValidator]:
    for point in brought_along():
        try:
            one = loaded(point)
        except ValidatorUnusable as error:
            yield ListedValidator(point.name, "", "a package", str(error))
        else:
            yield ListedValidator(one.name.name, one.name.version, one.origin)


def _hosted(profiles: Path | None) -> Iterator[ListedValidator]:
    if profiles is None:
        return
    try:
        hosted = read_hosted(profiles, built_in())
    except ProfilesUnusable as error:
        raise SettingsError(f"AUTHORITY_PROFILES: {error}") from error
    for one in hosted:
        yield ListedValidator(one.name.name, one.name.version, one.origin)
