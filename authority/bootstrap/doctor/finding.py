"""What a look at one thing found."""

from dataclasses import dataclass
from enum import Enum


class State(Enum):
    """How it is."""

    OK = "ok"
    WARNING = "warning"
    """It works, and will not always, or not as safely as it could."""
    PROBLEM = "problem"
    """Something does not work, or a promise does not hold."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line for the operator. Holds no secret."""

    check: str
    """What was looked at."""
    state: State
    found: str
    remedy: str = ""
    """What to do; empty when it is ok."""


def ok(check: str, found: str) -> Finding:
    """It is as it should be."""
    return Finding(check, State.OK, found)


def warning(check: str, found: str, remedy: str) -> Finding:
    """It could be better."""
    return Finding(check, State.WARNING, found, remedy)


def problem(check: str, found: str, remedy: str) -> Finding:
    """It must be mended."""
    return Finding(check, State.PROBLEM, found, remedy)
