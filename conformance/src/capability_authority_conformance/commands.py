"""One run from beginning to end: read, look at the target, run, report."""

import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from capability_authority_conformance.problems import SuiteMalformed, TargetUnusable
from capability_authority_conformance.reports.files import write_json, write_junit
from capability_authority_conformance.reports.text import last_line, progress, report_lines
from capability_authority_conformance.running.context import Run
from capability_authority_conformance.running.results import RunResult
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
    """Run and report; 0 when all is well, 1 when a case failed, 2 when the target cannot be judged, 130 on Ctrl-C.

    Raises `SuiteMalformed` and `TargetUnusable` for what is found before the target is asked anything.
    """
    cases, procedures = _written(wishes)
    result = RunResult(wishes.target or f"`{wishes.serve}`")
    started = time.monotonic()
    code = await _interruptible(_judged(wishes, cases, procedures, result), result, wishes.time_limit_s)
    result.seconds = time.monotonic() - started
    is_written = _report(wishes, result)
    return code or (int(result.failed > 0) if is_written else 2)


def _written(wishes: Wishes) -> tuple[list[Selected], dict[str, Procedure]]:
    suites = read_suites(wishes.suites)
    problems = lint(suites)
    if problems:
        raise SuiteMalformed(problems)
    known = read_known_failing(wishes.known_failing, suites) if wishes.known_failing else no_known_failing()
    procedures = {each.name: each for written in suites for each in written.suite.procedures}
    return selected_cases(suites, wishes.only, known), procedures


async def _interruptible(running: Coroutine[object, object, None], result: RunResult, time_limit_s: float) -> int:
    """Await it, until Ctrl-C or the end of the time; the exit code that this asks for, 0 when it simply ended."""
    task = asyncio.ensure_future(running)
    loop = asyncio.get_running_loop()
    interrupted = False

    def interrupt() -> None:
        nonlocal interrupted
        interrupted = True
        task.cancel()
        loop.remove_signal_handler(signal.SIGINT)  # The second one ends it at once.

    before = signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        async with asyncio.timeout(time_limit_s):
            await task
    except TargetUnusable as unusable:
        print(unusable, file=sys.stderr)
        result.ended_by = unusable.seen
        return 2
    except TimeoutError:
        result.ended_by = f"the run took longer than {time_limit_s:g} s; see --time-limit"
        print(result.ended_by, file=sys.stderr)
        return 2
    except asyncio.CancelledError:
        if not interrupted:
            raise
        result.ended_by = "interrupted"
        return 130
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
    return 0


async def _judged(wishes: Wishes, cases: list[Selected], procedures: dict[str, Procedure], result: RunResult) -> None:
    async with _address(wishes) as (address, keys):
        callers = load_callers(keys)
        result.target = address.target
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
    """Whether every report that was asked for could be written."""
    if result.cases:
        for line in report_lines(result):
            print(line)
    is_written = True
    for path, write in ((wishes.report_junit, write_junit), (wishes.report_json, write_json)):
        try:
            if path:
                write(path, result)
        except OSError as error:
            print(f"the report cannot be written: {error}", file=sys.stderr)
            is_written = False
    print(last_line(result))
    return is_written
