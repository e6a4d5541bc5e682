"""One run from beginning to end: read, look at the target, run, report."""

import asyncio
import os
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from capability_authority_conformance.problems import SuiteMalformed, TargetUnusable
from capability_authority_conformance.reports.files import write_json, write_junit
from capability_authority_conformance.reports.text import last_line, plain, progress, report_lines, tell
from capability_authority_conformance.running.context import Run
from capability_authority_conformance.running.results import RunResult, Verdict
from capability_authority_conformance.running.run import Selected, run_cases
from capability_authority_conformance.serving import served
from capability_authority_conformance.set_up import load_callers, make_set_up
from capability_authority_conformance.target.probes import introduced, require_known
from capability_authority_conformance.target.target import Address, Target
from capability_authority_conformance.v1.suite_pb2 import Procedure
from capability_authority_conformance.written.lint import lint
from capability_authority_conformance.written.reading import read_suites
from capability_authority_conformance.written.selection import (
    no_known_failing,
    read_known_failing,
    selected_cases,
)

__all__ = ["Wishes", "run"]

_RUN_ID_BYTES: Final = 6
_SIGNALLED: Final = 128
"""What a shell adds to the number of the signal by which a command ended."""
_ENDED: Final[Mapping[signal.Signals, str]] = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What `run` is asked for."""

    target: str | None
    serve: str | None
    keys: Path | None
    tls_roots: Path | None = None
    only: Sequence[str] = ()
    known_failing: Path | None = None
    report_junit: Path | None = None
    report_json: Path | None = None
    jobs: int
    call_timeout_s: float
    time_limit_s: float
    suites: Path


async def run(wishes: Wishes) -> int:
    """Run and report; 0 when all is well, 1 when a case failed, 2 when the target cannot be judged.

    A signal gives the code that shells give: 130 for Ctrl-C, 143 for SIGTERM. Raises `SuiteMalformed` and
    `TargetUnusable` for what is found before the target is asked anything.
    """
    cases, procedures = _written(wishes)
    result = RunResult(wishes.target or f"`{wishes.serve}`")
    started = time.monotonic()
    code = await _interruptible(_judged(wishes, cases, procedures, result), result, wishes.time_limit_s)
    result.seconds = time.monotonic() - started
    is_written = _report(wishes, result)
    return code or (_verdict(result) if is_written else 2)


def _verdict(result: RunResult) -> int:
    if result.count(Verdict.NOT_YET) == len(result.cases):
        tell("nothing was tried: every case that was asked for is one of those that are not yet run")
        return 2
    return int(result.failed > 0)


def _written(wishes: Wishes) -> tuple[list[Selected], dict[str, Procedure]]:
    suites = read_suites(wishes.suites)
    problems = lint(suites)
    if problems:
        raise SuiteMalformed(problems)
    known = read_known_failing(wishes.known_failing, suites) if wishes.known_failing else no_known_failing()
    procedures = {each.name: each for written in suites for each in written.suite.procedures}
    return selected_cases(suites, wishes.only, known), procedures


async def _interruptible(running: Coroutine[object, object, None], result: RunResult, time_limit_s: float) -> int:
    """Await it, until a signal or the end of the time; the exit code that this asks for, 0 when it simply ended."""
    task = asyncio.ensure_future(running)
    with _signals_end(task) as received:
        try:
            async with asyncio.timeout(time_limit_s):
                await task
        except TargetUnusable as unusable:
            tell(str(unusable))
            result.ended_by = unusable.seen
            return 2
        except TimeoutError:
            result.ended_by = f"the run took longer than {time_limit_s:g} s; see --time-limit"
            tell(result.ended_by)
            return 2
        except asyncio.CancelledError:
            if not received:
                raise
            result.ended_by = _ENDED[received[0]]
            return _SIGNALLED + received[0]
    return 0


@contextmanager
def _signals_end(task: asyncio.Future[None]) -> Iterator[list[signal.Signals]]:
    """The first of Ctrl-C and SIGTERM cancels the task, so that what it started ends; the second ends all at once."""
    loop, received = asyncio.get_running_loop(), []
    before = {number: signal.getsignal(number) for number in _ENDED}

    def end(number: signal.Signals) -> None:
        received.append(number)
        task.cancel()
        for each in _ENDED:
            loop.remove_signal_handler(each)

    for number in _ENDED:
        loop.add_signal_handler(number, end, number)
    try:
        yield received
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


async def _judged(wishes: Wishes, cases: list[Selected], procedures: dict[str, Procedure], result: RunResult) -> None:
    async with _address(wishes) as (address, keys):
        callers = load_callers(keys)
        result.target = address.target
        if not address.target.isprintable():
            raise TargetUnusable(f"no target is named {address.target!r}", "name it as HOST:PORT")
        target = Target(address)
        try:
            identity = await introduced(target)
            result.issuer = identity.issuer
            await require_known(target, identity, callers.values())
            run = Run(os.urandom(_RUN_ID_BYTES).hex(), target, identity, callers, procedures, result.asked_again)
            await run_cases(run, cases, result, jobs=wishes.jobs, ended=progress)
        finally:
            await target.close()


@asynccontextmanager
async def _address(wishes: Wishes) -> AsyncIterator[tuple[Address, Path]]:
    """Where the target is, and where the keys are that it knows."""
    roots = _roots(wishes.tls_roots) if wishes.tls_roots else None
    if wishes.target is not None:
        assert wishes.keys is not None
        yield Address(wishes.target, roots, wishes.call_timeout_s), wishes.keys
        return
    assert wishes.serve is not None
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        keys = wishes.keys or Path(folder, "keys")
        async with served(wishes.serve, make_set_up(keys), Path(folder, "served.log")) as where:
            yield Address(where, roots, wishes.call_timeout_s), keys


def _roots(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TargetUnusable(f"the roots cannot be read: {error}", "name a PEM file with --tls-roots") from None


def _report(wishes: Wishes, result: RunResult) -> bool:
    """Whether every report that was asked for could be written. Files first: who reads along may have gone away."""
    is_written = True
    for path, write in ((wishes.report_junit, write_junit), (wishes.report_json, write_json)):
        try:
            if path:
                write(path, result)
        except OSError as error:
            tell(f"the report cannot be written: {error}")
            is_written = False
    for line in report_lines(result) if result.cases else ():
        print(plain(line))
    print(plain(last_line(result)))
    return is_written
