"""`authority demo`: the main job on all demo proposals, on a throwaway authority in a process of its own."""

import asyncio
import contextlib
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from authority.bootstrap.operator import open_operator
from authority.bootstrap.relay import open_consumer
from authority.bootstrap.system import SystemClock
from authority.cli.arguments import AsJson
from authority.cli.child import served
from authority.cli.connecting import credentials_file
from authority.cli.demo.exchange import Firm, run_exchange
from authority.cli.demo.kill import demo_kill
from authority.cli.demo.report import Report, Result
from authority.cli.demo.story import FIRM, Act, tell_story
from authority.cli.demo_tenants import KINDS
from authority.cli.endpoint import find_endpoint
from authority.cli.failures import REFUSED, Refused
from authority.cli.output import console_for_notes, emit, note, say
from authority.cli.running import run_to_end
from authority.cli.serving import stopped_by_sigterm
from authority.embedded.demo import DemoProposal, DemoTenant, load_proposals, load_tenants
from authority.redis.stream_consumer import ReceivedEvent, StreamConsumer
from authority.usecases.administer import CommitCounts
from capability_authority.client import AuthorityError, CapabilityAuthority

_TERMINATED: Final = 143
"""Exit code after SIGTERM, as shells count it."""
_COMMITTED: Final = "memory.committed.v1"
_WAIT_MS: Final = 500
_WAITS: Final = 40
"""Twenty seconds for the next event, on however busy a machine."""
_TOLD_EVERY: Final = 16
"""Lines between two reports of progress where there is no bar."""


def demo(
    *,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="An empty or new folder to use and keep, instead of a temporary one."),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the temporary folder, to look into.")] = False,
    kill: Annotated[
        bool, typer.Option("--kill", help="Instead, kill the service in the middle of a commit, twice, and ask again.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Run the main job on some sixty proposals of three firms, on an authority of its own that is thrown away.

    Each is proposed, validated, decided by policy, approved where policy asks for it, issued, committed, committed
    again, its receipt verified offline and its record read back; some must be refused, each for its own reason. Then
    a story of who may do what: an agent proposes by a grant that was handed to it, a poisoned proposal is caught, a
    contradiction waits for a person, a person approves, and what is revoked is recalled no more. The exit code is 0
    only if every one came out exactly as it expects.

    With --kill, SIGKILL ends the service while the database is inside a commit. Once the database goes on alone, once
    it loses what it had begun; both times a new process is asked again with the same key. The exit code is 0 only if
    then there is exactly one record, receipt, event and consumed capability, and every retry gets the same receipt.
    """
    if kill:
        with stopped_by_sigterm(_TERMINATED), _folder(data, keep=keep) as folder:
            return demo_kill(folder, as_json=as_json)
    begun = time.monotonic()
    with stopped_by_sigterm(_TERMINATED), _folder(data, keep=keep) as folder:
        note("… starting an authority with its own PostgreSQL and Valkey")
        with served(folder) as address:
            note(f"… it serves at {address}; proposing")
            report = run_to_end(lambda: _run(folder))
            note("… stopping it")
    seconds = time.monotonic() - begun
    if as_json:
        emit(report.as_json(seconds))
        note(report.last_line())
    else:
        report.show()
        say(f"All in {seconds:.1f} s.")
        say(report.last_line())
    return 0 if report.ok else REFUSED


@contextlib.contextmanager
def _folder(data: Path | None, *, keep: bool) -> Iterator[Path]:
    """The folder to work in, removed at the end unless it is to be kept."""
    if data is not None:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(data.iterdir()):
            raise Refused(f"{data} is not empty: the demo counts what it leaves, so --data must name a new folder")
        yield data.absolute()
        return
    folder = Path(tempfile.mkdtemp(prefix="authority-demo-"))
    try:
        yield folder
    finally:
        if keep:
            note(f"kept {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


async def _run(folder: Path) -> Report:
    proposals = load_proposals()
    with _progress(len(proposals)) as advance:
        async with _firms(folder) as firms:
            lines_by_firm = {name: [line for line in proposals if line.tenant == name] for name in firms}
            # The firms work at the same time; within one the order counts, for a duplicate follows its original.
            found = await asyncio.gather(
                *(_run_firm(lines, firms[name], advance) for name, lines in lines_by_firm.items())
            )
    results = {result.line.name: result for results in found for result in results}
    counts = await _counts(folder)
    note("… reading the events that were delivered")
    delivered = await _delivered(folder, counts.events)
    note("… and who may do what, in five acts")
    return Report([results[line.name] for line in proposals], counts, delivered, await _story(folder))


async def _story(folder: Path) -> list[Act]:
    async with _firms(folder) as firms:
        try:
            return await tell_story(firms[FIRM])
        except AuthorityError as error:
            raise Refused(f"the story could not be told to its end: {error}") from error


async def _run_firm(lines: list[DemoProposal], firm: Firm, advance: Callable[[], None]) -> list[Result]:
    results = []
    for line in lines:
        try:
            results.append(Result(line, await run_exchange(line, firm, SystemClock().now())))
        except AuthorityError as error:
            raise Refused(f"{line.name} could not be run to its end: {error}") from error
        advance()
    return results


@contextlib.asynccontextmanager
async def _firms(folder: Path) -> AsyncIterator[dict[str, Firm]]:
    """Connections as every principal of every firm."""
    tenants = load_tenants()
    async with contextlib.AsyncExitStack() as stack:
        members: dict[str, dict[str, CapabilityAuthority]] = {}
        for tenant in tenants:
            files = {name: credentials_file(folder, tenant.tenant, name) for name in KINDS}
            members[tenant.tenant] = {
                name: await stack.enter_async_context(CapabilityAuthority.connect(credentials=file))
                for name, file in files.items()
            }
        yield {
            tenant.tenant: Firm(members[tenant.tenant], members[_neighbour(tenant, tenants)]["service"], tenant.team)
            for tenant in tenants
        }


def _neighbour(tenant: DemoTenant, tenants: tuple[DemoTenant, ...]) -> str:
    return tenants[(tenants.index(tenant) + 1) % len(tenants)].tenant


async def _counts(folder: Path) -> CommitCounts:
    """What all firms together have in the database."""
    async with open_operator(find_endpoint(folder).operator_settings()) as operator:
        counts = [await operator.administration.count_commits(tenant.ref) for tenant in load_tenants()]
    return CommitCounts(
        consumed_capabilities=sum(count.consumed_capabilities for count in counts),
        receipts=sum(count.receipts for count in counts),
        records=sum(count.records for count in counts),
        events=sum(count.events for count in counts),
    )


async def _delivered(folder: Path, expected: int) -> int:
    """How many commits a consumer of the stream of events hears of, once all are there or none has come for a while."""
    records: set[tuple[str, str]] = set()
    async with open_consumer(find_endpoint(folder).redis_url) as consumer:
        while len(records) < expected and (events := await _more(consumer)):
            records |= {(event.tenant, event.subject) for event in events if event.type == _COMMITTED}
    return len(records)


async def _more(consumer: StreamConsumer) -> list[ReceivedEvent]:
    """The next events; empty when none has come for so long that something must be wrong."""
    for _ in range(_WAITS):
        if events := await consumer.read(_WAIT_MS):
            return events
    return []


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """A bar on a terminal, a line now and then elsewhere."""
    console = console_for_notes()
    if not console.is_terminal:
        done = 0

        def tell() -> None:
            nonlocal done
            done += 1
            if done % _TOLD_EVERY == 0 or done == total:
                note(f"… {done} of {total}")

        yield tell
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("proposals", total=total)
        yield lambda: progress.advance(task)
