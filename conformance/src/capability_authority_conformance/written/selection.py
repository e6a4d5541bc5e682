"""Which cases run, and which are known to fail."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from capability_authority_conformance.problems import Problem, SuiteMalformed
from capability_authority_conformance.running.run import Selected
from capability_authority_conformance.written.reading import WrittenSuite

__all__ = ["KnownFailing", "no_known_failing", "read_known_failing", "selected_cases"]

_MOST_BYTES: Final = 1024 * 1024
"""Of a known-failing list: what never ends is none."""


@dataclass(frozen=True, slots=True)
class KnownFailing:
    """Patterns of cases that are known to fail, with their reasons."""

    reasons: tuple[tuple[str, str], ...]

    def reason(self, name: str) -> str:
        """Why the case is known to fail; empty when it is not."""
        return next((reason for pattern, reason in self.reasons if fnmatchcase(name, pattern)), "")


def no_known_failing() -> KnownFailing:
    """The list of a target of which nothing is known to fail."""
    return KnownFailing(())


def read_known_failing(path: Path, suites: Sequence[WrittenSuite]) -> KnownFailing:
    """Read `suite/case-pattern  # reason`, a line each; empty lines and lines that are a comment are skipped.

    Raises `SuiteMalformed` for a line without a reason, and for one that matches no case.
    """
    names = [name for name, _ in _named_cases(suites)]
    try:
        with path.open("rb") as file:
            written = file.read(_MOST_BYTES + 1)
        if len(written) > _MOST_BYTES:
            raise SuiteMalformed([Problem(str(path), 1, "", f"has more than {_MOST_BYTES} bytes", "name another list")])
        lines = written.decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SuiteMalformed([Problem(str(path), 1, "", f"cannot be read: {error}", "name another list")]) from None
    reasons, problems = [], []
    for number, line in enumerate(lines, start=1):
        pattern, _, reason = (part.strip() for part in line.partition("#"))
        if not pattern:
            continue
        if not reason:
            problems.append(Problem(str(path), number, "", f"{pattern} has no reason", "write `# why` behind it"))
        elif not any(fnmatchcase(name, pattern) for name in names):
            problems.append(Problem(str(path), number, "", f"{pattern} matches no case", "mend or remove the line"))
        else:
            reasons.append((pattern, reason))
    if problems:
        raise SuiteMalformed(problems)
    return KnownFailing(tuple(reasons))


def selected_cases(suites: Sequence[WrittenSuite], only: Sequence[str], known: KnownFailing) -> list[Selected]:
    """The cases that match one of the patterns; all without one. `suite` alone means `suite/*`.

    Raises `SuiteMalformed` for a pattern that matches nothing: nothing would be run, and all would seem well.
    """
    patterns = [pattern if "/" in pattern else f"{pattern}/*" for pattern in only]
    cases = list(_named_cases(suites))
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name, _ in cases):
            raise SuiteMalformed([Problem("--only", 1, "", f"{pattern} matches no case", "see `list`")])
    return [
        Selected(name, case.case, known.reason(name))
        for name, case in cases
        if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
    ]


def _named_cases(suites: Sequence[WrittenSuite]) -> Iterator[tuple[str, Selected]]:
    for written in suites:
        for case in written.suite.cases:
            name = f"{written.suite.name}/{case.name}"
            yield name, Selected(name, case)
