"""What the answers to many callers must be together (suite.proto: Together)."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from capability_authority_conformance.paths import Absent, found
from capability_authority_conformance.target.outcome import OK, Outcome
from capability_authority_conformance.v1.suite_pb2 import Together
from capability_authority_conformance.values import Json, of_struct

__all__ = ["misfits_together"]


def misfits_together(together: Together, outcomes: Sequence[Outcome]) -> list[str]:
    """What is not as expected, a line each; empty when all of it holds."""
    return [
        *_misfits_of_outcomes(together.outcomes, outcomes),
        *_misfits_of_difference(together.different, outcomes),
        *_misfits_of_tally(together, outcomes),
    ]


def _misfits_of_outcomes(expected: Mapping[str, int], outcomes: Sequence[Outcome]) -> list[str]:
    if not expected:
        return []
    counted = Counter(outcome.reason for outcome in outcomes)
    return [] if counted == Counter(expected) else [f"outcomes are {dict(counted)}, expected {dict(expected)}"]


def _misfits_of_difference(different: Mapping[str, int], outcomes: Sequence[Outcome]) -> list[str]:
    counts = {path: len(_tallied(path, outcomes)) for path in different}
    return [
        f"{path} has {counts[path]} different values, expected {number}"
        for path, number in different.items()
        if counts[path] != number
    ]


def _misfits_of_tally(together: Together, outcomes: Sequence[Outcome]) -> list[str]:
    lines = []
    for path, struct in together.tally.items():
        tallied, expected = _tallied(path, outcomes), of_struct(struct)
        if dict(tallied) != expected:
            lines.append(f"{path} is {dict(tallied)}, expected {expected}")
    return lines


def _tallied(path: str, outcomes: Sequence[Outcome]) -> Counter[str]:
    values = [found(outcome.answer, path) for outcome in outcomes if outcome.reason == OK]
    return Counter(_as_key(value) for value in values)


def _as_key(value: Json | Absent) -> str:
    return value if isinstance(value, str) else "absent" if isinstance(value, Absent) else json.dumps(value)
