"""What came of a case, and of a run."""

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum

__all__ = ["CaseResult", "Failure", "RunResult", "Verdict"]


class Verdict(Enum):
    """How a case ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_YET = "not yet"
    """It cannot be run against anything yet, and says why."""
    KNOWN_FAILING = "known failing"
    """It failed, as the known-failing list said."""
    UNEXPECTEDLY_PASSED = "passed, though listed as failing"
    """Counts as failed: the list is no longer true."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Where a case failed, and how."""

    trail: list[str]
    """The steps that led there, outermost first."""
    expected: list[str]
    got: list[str]
    request: str = ""
    broke: bool = False
    """Whether there was no answer of the authority at all."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case."""

    name: str
    """`suite/case`."""
    holds: str
    verdict: Verdict
    seconds: float = 0.0
    failure: Failure | None = None
    reason: str = ""
    """Why it is not run yet, or listed as known to fail."""


@dataclass(slots=True)
class RunResult:
    """All that was run."""

    target: str
    issuer: str = ""
    seconds: float = 0.0
    cases: list[CaseResult] = field(default_factory=list)
    asked_again: Counter[str] = field(default_factory=Counter)
    """How many calls the target could not judge at first, by the reason it gave: they were asked again."""
    ended_by: str = ""
    """Why it ended before it was complete: then nothing is said of what was not run."""

    def count(self, *verdicts: Verdict) -> int:
        """How many cases ended so."""
        return sum(case.verdict in verdicts for case in self.cases)

    @property
    def failed(self) -> int:
        """How many count as failed."""
        return self.count(Verdict.FAILED, Verdict.UNEXPECTEDLY_PASSED)
