"""Whether an answer is what a case permits (suite.proto: Answer, Check)."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from capability_authority_conformance.error_table import error_table
from capability_authority_conformance.paths import ABSENT, Absent, found
from capability_authority_conformance.target.outcome import Outcome
from capability_authority_conformance.values import Json, shown

__all__ = ["JUDGES", "Expected", "equal", "misfits", "misfits_of_fields"]

_MATCHED_CHARACTERS: Final = 4_096
_INSTANT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T")

Judge = Callable[[Json | Absent, Json], bool]


class Expected:
    """One answer that a case permits, with its references replaced."""

    def __init__(self, outcome: str, code: str, facts: Mapping[str, str], fields: Mapping[str, Json]) -> None:
        self.outcome = outcome
        self.code = code or (error_table()[outcome].code if outcome in error_table() else "")
        self.facts = facts
        self.fields = fields

    def __str__(self) -> str:
        facts = "".join(f" {name}={value}" for name, value in self.facts.items())
        fields = "".join(f"; {path}: {shown(value)}" for path, value in self.fields.items())
        return f"{self.outcome}{f' ({self.code})' if self.code else ''}{facts}{fields}"


def misfits(expected: Expected, outcome: Outcome) -> list[str]:
    """What of the outcome is not as expected, a line each; empty when it fits."""
    if outcome.reason != expected.outcome:
        return [f"outcome {outcome.reason}, not {expected.outcome}"]
    lines = list(outcome.breaches)
    if expected.code and outcome.code != expected.code:
        lines.append(f"code {outcome.code}, not {expected.code}")
    for name, value in expected.facts.items():
        if outcome.facts.get(name) != value:
            lines.append(f"fact {name} is {outcome.facts.get(name)!r}, not {value!r}")
    return lines + misfits_of_fields(expected.fields, outcome.answer)


def misfits_of_fields(fields: Mapping[str, Json], answer: Json) -> list[str]:
    """What of the fields, by their paths, is not as expected."""
    lines = []
    for path, expected in fields.items():
        there = found(answer, path)
        if not _holds(there, expected):
            lines.append(f"{path} is {shown(there)}, expected {shown(expected)}")
    return lines


def _holds(there: Json | Absent, expected: Json) -> bool:
    if isinstance(expected, dict) and len(expected) == 1:
        (word, wanted), *_ = expected.items()
        if word in JUDGES:
            return JUDGES[word](there, wanted)
    return equal(there, expected)


def equal(there: Json | Absent, expected: Json) -> bool:
    """Whether they are the same value: 64-bit integers may be text, and instants may be written in several ways."""
    if expected is None:
        return there is ABSENT or there is None
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        return _number(there) == expected
    if isinstance(there, Absent) or type(there) is not type(expected):
        return False
    return there == expected or (_is_instant(there) and _is_instant(expected) and _place(there) == _place(expected))


def _is_instant(value: Json) -> bool:
    return isinstance(value, str) and _INSTANT.match(value) is not None


def _number(value: Json | Absent) -> float | None:
    """A number, or the text of a 64-bit one."""
    if isinstance(value, str) and re.fullmatch(r"-?\d+", value):
        return int(value)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _place(value: Json | Absent) -> float | None:
    """Where a number, or an instant, stands among its like."""
    if isinstance(value, str) and _number(value) is None:
        instant = Timestamp()
        try:
            instant.FromJsonString(value)
        except ValueError:
            return None
        return instant.ToNanoseconds()
    return _number(value)


def _matches(there: Json | Absent, pattern: str) -> bool:
    """A text that is too long to be judged at once matches nothing."""
    return isinstance(there, str) and len(there) <= _MATCHED_CHARACTERS and re.fullmatch(pattern, there) is not None


def _contains(there: Json | Absent, wanted: Json) -> bool:
    if isinstance(there, str):
        return isinstance(wanted, str) and wanted in there
    return isinstance(there, list) and any(equal(item, wanted) for item in there)


def _compared(there: Json | Absent, wanted: Json, holds: Callable[[float, float], bool]) -> bool:
    left, right = _place(there), _place(wanted)
    return left is not None and right is not None and holds(left, right)


JUDGES: Final[Mapping[str, Judge]] = {
    "present": lambda there, wanted: (there is not ABSENT and there is not None) is wanted,
    "not": lambda there, wanted: not equal(there, wanted),
    "one_of": lambda there, wanted: isinstance(wanted, list) and any(equal(there, item) for item in wanted),
    "matches": lambda there, wanted: _matches(there, str(wanted)),
    "count": lambda there, wanted: isinstance(there, (list, dict)) and len(there) == wanted,
    "contains": _contains,
    # Of a list or text that is there: where nothing stands, nothing was shown.
    "lacks": lambda there, wanted: isinstance(there, (list, str)) and not _contains(there, wanted),
    "at_least": lambda there, wanted: _compared(there, wanted, lambda left, right: left >= right),
    "at_most": lambda there, wanted: _compared(there, wanted, lambda left, right: left <= right),
}
"""The words that judge a value; a mapping with one of them as its only key is no value to be equal to."""
