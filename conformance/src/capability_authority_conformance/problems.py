"""What ends a run before it has a verdict: exit code 2."""

from dataclasses import dataclass

__all__ = ["Problem", "SuiteMalformed", "TargetUnusable"]


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong with what is written: where, what, and what to do."""

    file: str
    line: int
    place: str
    """`case NAME, step 3`, or empty for the file."""
    what: str
    remedy: str

    def __str__(self) -> str:
        place = f" {self.place}:" if self.place else ""
        return f"{self.file}:{self.line}:{place} {self.what}; {self.remedy}"


class SuiteMalformed(Exception):
    """Suites, a known-failing list or a selection cannot be used as written; says every problem found."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(map(str, sorted(problems))))
        self.problems = problems


class TargetUnusable(Exception):
    """The target cannot be judged: what was seen of it, and what to do."""

    def __init__(self, seen: str, remedy: str) -> None:
        super().__init__(f"{seen}\n  {remedy}")
        self.seen = seen
        self.remedy = remedy
