"""Runs cases: several side by side, those with a crowd of callers alone, until all have ended or nobody answers."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from capability_authority_conformance.problems import TargetUnusable
from capability_authority_conformance.running.context import Run, StepFailed, Story, base_names
from capability_authority_conformance.running.results import CaseResult, Failure, RunResult, Verdict
from capability_authority_conformance.running.steps import taken
from capability_authority_conformance.target.probes import require_answering
from capability_authority_conformance.v1.suite_pb2 import Case, Step

__all__ = ["Selected", "run_cases"]

_CROWD: Final = 10
"""A case with so many callers at once runs alone: others' deadlines would suffer, and its own moment too."""


@dataclass(frozen=True, slots=True)
class Selected:
    """A case to be run, under its whole name."""

    name: str
    case: Case
    known_failing: str = ""
    """Why it is known to fail, if it is."""


async def run_cases(
    run: Run, selected: Iterable[Selected], result: RunResult, *, jobs: int, ended: Callable[[CaseResult], None]
) -> None:
    """Run them; each result is added to `result` and told as soon as it is there.

    Raises `TargetUnusable` once the target no longer answers. Cancelled, it ends at once, and what ran stays told.
    """
    cases = list(selected)
    crowded = [each for each in cases if _is_crowded(each.case.steps, run)]
    beside = [each for each in cases if each not in crowded]
    places = asyncio.Semaphore(jobs)

    async def told(each: Selected) -> None:
        async with places:
            outcome = await _ran(run, each)
        if outcome.failure is not None and outcome.failure.broke:
            await require_answering(run.target)
        result.cases.append(outcome)
        ended(outcome)

    broken = None
    try:
        async with asyncio.TaskGroup() as group:
            for each in beside:
                group.create_task(told(each))
        for each in crowded:
            await told(each)
    except* TargetUnusable as several:
        broken = _first(several)
    if broken is not None:
        raise broken  # Not above: Python before 3.11.4 makes a group of what is raised there.


def _first(group: BaseExceptionGroup[TargetUnusable]) -> TargetUnusable:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


def _is_crowded(steps: Iterable[Step], run: Run) -> bool:
    return any(
        step.call.callers >= _CROWD
        or (step.HasField("use") and _is_crowded(run.procedures[step.use.procedure].steps, run))
        for step in steps
    )


async def _ran(run: Run, selected: Selected) -> CaseResult:
    case = selected.case
    if not_yet := case.not_yet or _lacking(run, case):
        return CaseResult(selected.name, case.holds, Verdict.NOT_YET, reason=not_yet)
    started = time.monotonic()
    failure = None
    try:
        await taken(case.steps, Story(run, base_names(run, selected.name)))
    except StepFailed as failed:
        failure = Failure(failed.trail, failed.expected, failed.got, failed.request, failed.transport)
    seconds = time.monotonic() - started
    verdict = _VERDICTS[failure is None, bool(selected.known_failing)]
    return CaseResult(selected.name, case.holds, verdict, seconds, failure, selected.known_failing)


def _lacking(run: Run, case: Case) -> str:
    """What the target is not, without which the case cannot be run; empty when it can."""
    audience = run.identity.audience
    if case.needs_audience in ("", audience):
        return ""
    return f"The target's audience is {audience!r}; this is tried of one whose audience is {case.needs_audience!r}."


_VERDICTS: Final[Mapping[tuple[bool, bool], Verdict]] = {
    (True, False): Verdict.PASSED,
    (False, False): Verdict.FAILED,
    (True, True): Verdict.UNEXPECTEDLY_PASSED,
    (False, True): Verdict.KNOWN_FAILING,
}
"""By whether it passed, and whether it is listed as known to fail."""
