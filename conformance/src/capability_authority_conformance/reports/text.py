"""The report for people: a line a case while it runs, a table of suites, failures with all it takes to see why."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, TextIO

from capability_authority_conformance.running.results import CaseResult, RunResult, Verdict

__all__ = ["failure_details", "last_line", "plain", "progress", "report_lines", "tell"]

_COLOURS: Final = {
    Verdict.PASSED: "32",
    Verdict.FAILED: "31;1",
    Verdict.NOT_YET: "2",
    Verdict.KNOWN_FAILING: "33",
    Verdict.UNEXPECTEDLY_PASSED: "31;1",
}
_COLUMNS: Final = (Verdict.PASSED, Verdict.FAILED, Verdict.NOT_YET)


def plain(text: str) -> str:
    """One line, whatever a target put into it: what does not print is shown by its escape."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def tell(text: str, stream: TextIO | None = None) -> None:
    """Say something on standard error; where nobody listens any more nothing is lost by it."""
    with suppress(OSError):
        print("\n".join(map(plain, text.splitlines())), file=stream or sys.stderr, flush=True)


def progress(case: CaseResult, stream: TextIO | None = None) -> None:
    """One line to standard error, in colour where that is a terminal; a run goes on when nobody reads there."""
    stream = stream or sys.stderr
    verdict = case.verdict.value
    if stream.isatty() and "NO_COLOR" not in os.environ:
        verdict = f"\x1b[{_COLOURS[case.verdict]}m{verdict}\x1b[0m"
    seconds = "" if case.verdict is Verdict.NOT_YET else f"  {case.seconds:.2f} s"
    with suppress(OSError):
        print(f"{verdict} {case.name}{seconds}", file=stream, flush=True)


def report_lines(result: RunResult) -> Iterator[str]:
    """The whole report, without its last line."""
    cases = sorted(result.cases, key=lambda case: case.name)
    yield from _table(cases)
    for case in cases:
        if case.verdict is Verdict.FAILED:
            yield ""
            yield from _failure_lines(case)
        elif case.verdict is Verdict.UNEXPECTEDLY_PASSED:
            yield ""
            yield f"PASSED, though listed as failing: {case.name}"
            yield f"  the list says: {case.reason}; remove the line, or make it match fewer cases"
    for case in cases:
        if case.verdict in (Verdict.NOT_YET, Verdict.KNOWN_FAILING):
            yield f"{case.verdict.value}: {case.name}: {case.reason}"
    known = result.count(Verdict.KNOWN_FAILING)
    if known:
        yield f"known failing: {known} (counted as neither passed nor failed)"
    for reason, count in sorted(result.asked_again.items()):
        yield f"asked again: {count} calls that were answered {reason}, which judges nothing"
    yield f"{len(cases)} cases in {result.seconds:.1f} s against {result.target}" + (
        f" ({result.issuer})" if result.issuer else ""
    )


def last_line(result: RunResult) -> str:
    """The line that machines look for; of a run that was not complete no numbers that could pass for a verdict."""
    if result.ended_by:
        return f"conformance: not finished: {result.ended_by}"
    passed, failed, not_yet = result.count(Verdict.PASSED), result.failed, result.count(Verdict.NOT_YET)
    return f"conformance: {passed} passed, {failed} failed, {not_yet} not yet"


def _table(cases: list[CaseResult]) -> Iterator[str]:
    suites = sorted({case.name.partition("/")[0] for case in cases})
    width = max(map(len, suites), default=0)
    yield "  ".join([" " * width, *(f"{verdict.value:>7}" for verdict in _COLUMNS)])
    for suite in suites:
        mine = [case.verdict for case in cases if case.name.partition("/")[0] == suite]
        failed = mine.count(Verdict.FAILED) + mine.count(Verdict.UNEXPECTEDLY_PASSED)
        numbers = (mine.count(Verdict.PASSED), failed, mine.count(Verdict.NOT_YET))
        yield "  ".join([suite.ljust(width), *(f"{number or '-':>7}" for number in numbers)])


def _failure_lines(case: CaseResult) -> Iterator[str]:
    assert case.failure is not None
    yield f"FAILED: {case.name}"
    yield f"  holds: {case.holds}"
    yield from failure_details(case)


def failure_details(case: CaseResult) -> Iterator[str]:
    """Where it failed, what was asked, expected and got."""
    failure = case.failure
    if failure is None:
        return
    for depth, step in enumerate(failure.trail):
        yield f"  {'  ' * depth}{step}"
    if failure.request:
        yield f"  asked: {failure.request}"
    yield from (
        f"  {'expected:' if not number else '      or:'} {line}" for number, line in enumerate(failure.expected)
    )
    yield from (f"  {'got:' if not number else '    '} {line}" for number, line in enumerate(failure.got))
