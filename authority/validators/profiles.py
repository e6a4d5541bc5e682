"""Profiles: which validators judge together. Three are built in; an operator's file may add others."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from authority.domain.validation import BASELINE, BASELINE_VERSION, Profile, ValidatorName
from authority.validators.catalog import Local, Missing
from authority.validators.hosted import Hosted

Usable: TypeAlias = Local | Hosted
"""A validator that can be asked."""

GUARDED: Final = "guarded"
GUARDED_PII: Final = "guarded-pii"
_BASELINE: Final = ("schema_and_limits", "canonical_json", "exact_duplicate", "provenance")
_GUARDED: Final = (*_BASELINE, "evidence", "secrets", "prompt_injection", "near_duplicate", "contradiction")
BUILT_IN: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    BASELINE: (BASELINE_VERSION, _BASELINE),
    GUARDED: ("1", _GUARDED),
    GUARDED_PII: ("1", (*_GUARDED, "pii")),
}
"""Each with its version, which is raised whenever one of its validators is."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A profile with the validators that it names."""

    profile: Profile
    validators: tuple[Usable, ...]


def panel(name: str, version: str, validators: Sequence[Usable]) -> Panel:
    """The profile that these make."""
    needs = frozenset(need for one in validators for need in one.needs)
    quick = all(isinstance(one, Local) and one.is_quick for one in validators)
    names = tuple(one.name for one in validators)
    return Panel(Profile(name, version, names, needs, quick), tuple(validators))


def built_in_panels(found: Mapping[str, Local | Missing]) -> dict[str, Panel]:
    """The built-in profiles whose validators are all installed."""
    panels = {}
    for name, (version, members) in BUILT_IN.items():
        usable = [one for member in members if isinstance(one := found[member], Local)]
        if len(usable) == len(members):
            panels[name] = panel(name, version, usable)
    return panels


def bound_version(version: str, validators: Iterable[ValidatorName]) -> str:
    """An operator's version, and eight digits of what it binds: another list under the same version shows."""
    listed = "\n".join(f"{one.name}@{one.version}" for one in validators)
    return f"{version}+{hashlib.sha256(listed.encode()).hexdigest()[:8]}"
