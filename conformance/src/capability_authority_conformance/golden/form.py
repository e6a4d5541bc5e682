"""What a file of vectors is made of, and how it is written down."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

__all__ = ["BUG_TYPES", "Flag", "Group", "Inputs", "Test", "VectorFile", "render"]

Inputs: TypeAlias = Mapping[str, Any]
"""Members of a JSON object, by name. Bytes stand in it as lowercase hexadecimal digits."""

BUG_TYPES: Final = (
    "BASIC",
    "EDGE_CASE",
    "AMBIGUITY",
    "CONFUSION",
    "ESCALATION",
    "FORGERY",
    "MALLEABILITY",
    "OUT_OF_RANGE",
    "REPLAY",
    "WEAK_KEY",
)
"""What kind of mistake a vector finds; the schemas have the same list."""


@dataclass(frozen=True, slots=True)
class Flag:
    """Why vectors exist: which mistake they find, and what becomes of it. Defined once in its file."""

    name: str
    bug_type: str
    description: str
    effect: str


@dataclass(frozen=True, slots=True)
class Test:
    """One vector. It is valid when `reason` is None, and otherwise to be refused for that reason."""

    __test__ = False  # To pytest, everything whose name begins so is a test of its own.

    id: str
    comment: str
    flags: tuple[str, ...]
    inputs: Inputs
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Vectors that share something: a key, a tenant, a question."""

    about: str
    tests: Sequence[Test]
    shared: Inputs = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VectorFile:
    """One file. `name` is the file's name without `.json`, and that of its schema."""

    name: str
    about: str
    flags: Sequence[Flag]
    groups: Sequence[Group]


def render(file: VectorFile) -> str:
    """The text of the file: JSON in ASCII, which shows what no eye can tell apart."""
    return json.dumps(_document(file), indent=1, ensure_ascii=True) + "\n"


def _document(file: VectorFile) -> Inputs:
    return {
        "schema": f"schemas/{file.name}.schema.json",
        "about": file.about,
        "number_of_tests": sum(len(group.tests) for group in file.groups),
        "notes": {
            flag.name: {"bugType": flag.bug_type, "description": flag.description, "effect": flag.effect}
            for flag in sorted(file.flags, key=lambda flag: flag.name)
        },
        "groups": [
            {"about": group.about, **group.shared, "tests": [_test(test) for test in group.tests]}
            for group in file.groups
        ],
    }


def _test(test: Test) -> Inputs:
    return {
        "id": test.id,
        "comment": test.comment,
        "flags": sorted(test.flags),
        **test.inputs,
        "result": "valid" if test.reason is None else "invalid",
        "reason": test.reason,
    }
