"""Which validators there are: those built in, those that other packages bring, and what is missing for the rest.

Nothing of them is imported until one is needed: detect-secrets, datasketch and presidio take seconds together.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, Final

from authority.domain.material import Need
from authority.domain.validation import BASELINE_VERSION, ValidatorName
from authority.validators.protocol import Validator

ENTRY_POINTS: Final = "capability_authority.validators"
"""The group under which a package names its validators: classes without arguments, or instances."""
LIMIT_S: Final = 20.0
"""How long a validator of this process may take over one content."""
NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
VERSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")


class ValidatorUnusable(Exception):
    """A validator cannot be used. The message names it, what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class Local:
    """A validator that runs in this process. `load` imports and makes it, and may take seconds."""

    name: ValidatorName
    origin: str
    needs: frozenset[Need]
    load: Callable[[], Validator]
    is_quick: bool = False
    limit_s: float = LIMIT_S


@dataclass(frozen=True, slots=True)
class Missing:
    """A validator that is not installed, and what installs it."""

    name: str
    remedy: str


@dataclass(frozen=True, slots=True)
class _BuiltIn:
    version: str
    module: str
    attribute: str
    needs: frozenset[Need] = frozenset()
    is_quick: bool = False
    package: str = ""
    extra: str = ""


_BUILT_IN: Final[Mapping[str, _BuiltIn]] = {
    "schema_and_limits": _BuiltIn(BASELINE_VERSION, "baseline", "SchemaAndLimits", is_quick=True),
    "canonical_json": _BuiltIn(BASELINE_VERSION, "baseline", "CanonicalJson", is_quick=True),
    "exact_duplicate": _BuiltIn(
        BASELINE_VERSION, "baseline", "ExactDuplicate", frozenset({Need.DUPLICATE}), is_quick=True
    ),
    "provenance": _BuiltIn(BASELINE_VERSION, "baseline", "ProvenanceStamped", is_quick=True),
    "evidence": _BuiltIn("1", "evidence", "Evidence", frozenset({Need.EVIDENCE}), is_quick=True),
    "secrets": _BuiltIn("1", "secret_detection", "Secrets", package="detect_secrets"),
    "prompt_injection": _BuiltIn("1", "prompt_injection", "PromptInjection"),
    "near_duplicate": _BuiltIn("1", "near_duplicate", "NearDuplicate", frozenset({Need.NEAR}), package="datasketch"),
    "contradiction": _BuiltIn("1", "contradiction", "Contradiction", frozenset({Need.ASSERTIONS}), is_quick=True),
    "pii": _BuiltIn("1", "personal_data", "PersonalData", package="presidio_analyzer", extra="pii"),
}


def built_in() -> dict[str, Local | Missing]:
    """The validators that come with the authority, in the order in which profiles ask them."""
    return {name: _found(name, one) for name, one in _BUILT_IN.items()}


def brought_along() -> Iterator[EntryPoint]:
    """What installed packages name in the group; none of it is imported."""
    yield from sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name)


def loaded(point: EntryPoint) -> Local:
    """The validator that an entry point names, imported. Raises `ValidatorUnusable`."""
    origin = f"package {point.dist.name}" if point.dist else "a package"
    try:
        made = point.load()
        validator: Any = made() if isinstance(made, type) else made
        name, version, needs = validator.name, validator.version, frozenset(getattr(validator, "needs", ()))
    except Exception as error:
        raise ValidatorUnusable(
            f"validator {point.name} of {origin} cannot be loaded ({type(error).__name__}): mend or uninstall it"
        ) from error
    well_formed = (
        isinstance(name, str) and isinstance(version, str) and NAME.fullmatch(name) and VERSION.fullmatch(version)
    )
    if (
        not well_formed
        or not callable(getattr(validator, "judge", None))
        or not all(isinstance(it, Need) for it in needs)
    ):
        raise ValidatorUnusable(f"validator {point.name} of {origin} is none: docs/validators.md says what one has")
    if name != point.name:
        raise ValidatorUnusable(f"entry point {point.name} of {origin} names itself {name}: give both one name")
    if name in _BUILT_IN:
        raise ValidatorUnusable(f"validator {name} of {origin} has the name of one that is built in: rename it")
    return Local(ValidatorName(name, version), origin, needs, lambda: validator)


def _found(name: str, one: _BuiltIn) -> Local | Missing:
    if one.package and find_spec(one.package) is None:
        named = f"capability-authority[{one.extra}]" if one.extra else one.package.replace("_", "-")
        return Missing(name, f"pip install '{named}'")
    made = cache(lambda: _made(one))
    return Local(ValidatorName(name, one.version), "built in", one.needs, made, one.is_quick)


def _made(one: _BuiltIn) -> Validator:
    validator: Validator = getattr(import_module(f"authority.validators.{one.module}"), one.attribute)()
    return validator
