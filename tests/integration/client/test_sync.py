"""The sync client against a real server: all it does, in threads, forked, interrupted, and left open."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar, assert_type

import pytest
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, use_span

from capability_authority import CapabilityAuthority as AsyncCapabilityAuthority
from capability_authority.client import (
    CommitItem,
    Committed,
    ConnectionClosed,
    DeadlineExceeded,
    IssuedCapability,
    NotFound,
    StreamedCommit,
)
from capability_authority.sync import CapabilityAuthority, Iteration
from tests.integration.client.exchange import CONTENT, IMPATIENT
from tests.integration.client.exchange import issued as issued_async
from tests.integration.client.small_authority import SmallAuthority
from tests.integration.client.state import ISSUER
from tests.integration.client.witness import Hang

T = TypeVar("T")
WITHIN_S = 60.0


async def beside(work: Callable[[], T]) -> T:
    """What the work returns, done in a thread: the authority that it calls is served by this one."""
    return await asyncio.wait_for(asyncio.to_thread(work), WITHIN_S)


def issued(client: CapabilityAuthority, number: int = 0) -> IssuedCapability:
    proposal = client.propose(
        memory_namespace="engineering/reviews", memory_type="critique", content={**CONTENT, "number": number}
    )
    validation = client.validate(proposal)
    decision = client.evaluate_policy(proposal)
    return client.issue(proposal, validation_receipt=validation.receipt, decision_receipt=decision.receipt)


def connected(small_authority: SmallAuthority) -> CapabilityAuthority:
    return CapabilityAuthority.connect(credentials=small_authority.register(), retries=IMPATIENT)


async def test_an_exchange_from_the_proposal_to_the_record(small_authority: SmallAuthority) -> None:
    def exchange() -> None:
        with connected(small_authority) as client:
            capability = issued(client, 7)
            committed = client.commit(capability, content={**CONTENT, "number": 7})
            assert_type(committed, Committed)
            again = client.commit(capability, content={**CONTENT, "number": 7})

            assert again.replayed
            assert again.receipt.statement == committed.receipt.statement
            assert client.get_record(committed.record_id).record_id == committed.record_id
            with pytest.raises(NotFound):
                client.get_record("nothing")

    await beside(exchange)


async def test_lists_and_streams_are_plain_iterators(small_authority: SmallAuthority) -> None:
    def iterate() -> None:
        with connected(small_authority) as client:
            contents = [{**CONTENT, "number": number} for number in range(5)]
            items = [CommitItem(issued(client, number), content=contents[number]) for number in range(5)]

            def as_they_come() -> Iterator[CommitItem]:
                assert threading.current_thread().name == "capability-authority-source"
                yield from items

            with client.commit_stream(as_they_come()) as outcomes:
                assert_type(outcomes, Iteration[StreamedCommit])
                records = {one.outcome.record_id for one in outcomes if isinstance(one.outcome, Committed)}

            assert len(records) == 5
            listed = {record.record_id for record in client.list_records(memory_namespace="engineering/reviews")}
            assert listed == records

    await beside(iterate)


async def test_what_the_source_of_a_stream_raises_comes_out(small_authority: SmallAuthority) -> None:
    class Broken(Iterator[CommitItem]):
        def __next__(self) -> CommitItem:
            raise LookupError("the source has dried up")

    def stream() -> None:
        with connected(small_authority) as client, pytest.raises(LookupError, match="dried up"):
            list(client.commit_stream(Broken()))

    await beside(stream)


async def test_a_stream_left_early_closes_its_source(small_authority: SmallAuthority) -> None:
    # Given a source that would go on for ever
    closed = threading.Event()

    def endless(client: CapabilityAuthority) -> Iterator[CommitItem]:
        try:
            for number in range(1_000_000):
                yield CommitItem(issued(client, number), content={**CONTENT, "number": number})
        finally:
            closed.set()

    def stream() -> None:
        with connected(small_authority) as client, client.commit_stream(endless(client), window=2) as outcomes:
            # When the loop ends after the first outcome
            assert isinstance(next(outcomes).outcome, Committed)
        # Then the source is closed, and nothing comes any more
        assert closed.wait(WITHIN_S)
        assert list(outcomes) == []

    await beside(stream)


async def test_many_threads_use_one_client(small_authority: SmallAuthority) -> None:
    def commit_all() -> set[str]:
        with connected(small_authority) as client, ThreadPoolExecutor(8) as pool:

            def commit(number: int) -> str:
                capability = issued(client, number)
                return client.commit(capability, content={**CONTENT, "number": number}).record_id

            return set(pool.map(commit, range(32)))

    assert len(await beside(commit_all)) == 32


async def test_the_thread_ends_with_the_last_client(small_authority: SmallAuthority) -> None:
    def alive() -> bool:
        return any(thread.name == "capability-authority" for thread in threading.enumerate())

    def open_two() -> None:
        with connected(small_authority) as first:
            with connected(small_authority) as second:
                second.key_set()
            assert alive()
            first.key_set()
        assert not alive()

    await beside(open_two)


async def test_a_call_has_its_deadline(small_authority: SmallAuthority) -> None:
    small_authority.upset("GetMemoryRecord", *[Hang()] * 5)

    def ask() -> None:
        with connected(small_authority) as client, pytest.raises(DeadlineExceeded):
            client.get_record("anything", timeout=0.2)

    await beside(ask)


async def test_outside_of_its_block_it_says_so(small_authority: SmallAuthority) -> None:
    def use() -> None:
        client = connected(small_authority)
        with pytest.raises(ConnectionClosed, match="inside `with`"):
            client.key_set()
        with client:
            with pytest.raises(RuntimeError, match="entered already"), client:
                pass
            records = client.list_records(memory_namespace="engineering/reviews")
        client.close()
        with pytest.raises(ConnectionClosed, match="inside `with`"):
            next(records)

    await beside(use)


async def test_closing_ends_the_calls_of_other_threads(small_authority: SmallAuthority) -> None:
    # Given a call that would hang for long
    small_authority.upset("GetMemoryRecord", *[Hang()] * 5)

    def use() -> None:
        with ThreadPoolExecutor(1) as pool, connected(small_authority) as client:
            calling = pool.submit(client.get_record, "anything", timeout=WITHIN_S)
            asyncio.run_coroutine_threadsafe(arrived(small_authority), serving).result(WITHIN_S)
            # When the client is closed
            client.close()
            # Then the call ends
            with pytest.raises(Exception, match="closed"):
                calling.result(WITHIN_S)

    serving = asyncio.get_running_loop()
    await beside(use)


async def test_the_caller_s_trace_goes_along(small_authority: SmallAuthority) -> None:
    context = SpanContext(0xA1, 0xB2, is_remote=False, trace_flags=TraceFlags(1))

    def ask() -> None:
        # Given a span that is current in the caller's thread alone
        with connected(small_authority) as client, use_span(NonRecordingSpan(context)):
            # When a verb is called, which runs in another thread
            list(client.list_records(memory_namespace="engineering/reviews"))

    await beside(ask)
    (told,) = small_authority.attempts("ListMemoryRecords")
    assert told.metadata["traceparent"] == f"00-{0xA1:032x}-{0xB2:016x}-01"


async def test_what_its_own_loop_runs_cannot_wait_for_it(small_authority: SmallAuthority) -> None:
    def stream() -> None:
        with connected(small_authority) as client:

            async def wrong() -> AsyncIterator[CommitItem]:
                yield CommitItem(issued(client), content=CONTENT)

            with pytest.raises(RuntimeError, match="wait for ever"):
                list(client.commit_stream(wrong()))

    await beside(stream)


async def test_f15_a_client_is_not_used_across_a_fork(small_authority: SmallAuthority, tmp_path: Path) -> None:
    # GRPC_VERBOSITY: gRPC itself notes that a fork beside its threads is none of its doing.
    done = await script(
        small_authority,
        tmp_path,
        """
        with CapabilityAuthority.connect(credentials=FILE) as client:
            client.key_set()
            if child := os.fork():
                print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
                client.key_set(refresh=True)
            else:
                try:
                    client.key_set(refresh=True)
                except ConnectionClosed as error:
                    print(error, flush=True)
        """,
        GRPC_VERBOSITY="NONE",
    )
    assert done == "the client was entered before a fork; enter one in each process\nchild 0\n"


async def test_f15_processes_forked_between_clients_have_their_own(
    small_authority: SmallAuthority, tmp_path: Path
) -> None:
    done = await script(
        small_authority,
        tmp_path,
        """
        with CapabilityAuthority.connect(credentials=FILE) as client:
            client.key_set()
        child = os.fork()
        with CapabilityAuthority.connect(credentials=FILE) as client:
            issuer = client.key_set().issuer
        if child:
            print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), issuer)
        """,
    )
    assert done == f"child 0 {ISSUER}\n"


async def test_a_program_that_closes_nothing_ends(small_authority: SmallAuthority, tmp_path: Path) -> None:
    done = await script(
        small_authority,
        tmp_path,
        """
        client = CapabilityAuthority.connect(credentials=FILE).__enter__()
        client.key_set()
        outcomes = client.commit_stream(itertools.repeat(None))
        records = client.list_records(memory_namespace="engineering/reviews")
        next(records, None)
        print("the end")
        """,
    )
    assert done == "the end\n"


async def test_inside_a_running_event_loop_it_works(small_authority: SmallAuthority, tmp_path: Path) -> None:
    done = await script(
        small_authority,
        tmp_path,
        """
        async def main():
            with CapabilityAuthority.connect(credentials=FILE) as client:
                print(client.key_set().issuer)
        asyncio.run(main())
        """,
    )
    assert done == f"{ISSUER}\n"


async def test_c02_ctrl_c_ends_a_call_that_hangs(small_authority: SmallAuthority, tmp_path: Path) -> None:
    # Given a program amid a call that hangs
    small_authority.upset("GetMemoryRecord", *[Hang()] * 5)
    program = await asyncio.create_subprocess_exec(
        *command(
            small_authority,
            tmp_path,
            """
            with CapabilityAuthority.connect(credentials=FILE) as client:
                try:
                    client.get_record("anything", timeout=600)
                except KeyboardInterrupt:
                    print("interrupted", client.key_set().issuer)
            """,
        ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    await arrived(small_authority)

    # When it is interrupted
    program.send_signal(signal.SIGINT)

    # Then the call ends at once, and the client is as good as before
    out, errors = await asyncio.wait_for(program.communicate(), WITHIN_S)
    assert (out, errors) == (f"interrupted {ISSUER}\n".encode(), b"")


async def test_async_and_sync_clients_go_together(
    small_authority: SmallAuthority, client: AsyncCapabilityAuthority
) -> None:
    capability = await issued_async(client)

    def verdict() -> str:
        with connected(small_authority) as other:
            return other.verify(capability).reason

    assert await beside(verdict) == (await client.verify(capability)).reason


async def arrived(small_authority: SmallAuthority) -> None:
    """Returns once a record was asked for."""
    while not small_authority.attempts("GetMemoryRecord"):  # noqa: ASYNC110 - what arrives tells nobody
        await asyncio.sleep(0.01)


def command(small_authority: SmallAuthority, folder: Path, body: str) -> list[str]:
    file = folder / "credentials.json"
    small_authority.register().save(file)
    lines = body.strip("\n").split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    header = (
        "import asyncio, itertools, os, sys\n"
        "from capability_authority.client import ConnectionClosed\n"
        "from capability_authority.sync import CapabilityAuthority\n"
        f"FILE = {str(file)!r}\n"
    )
    return [sys.executable, "-c", header + "\n".join(line[indent:] for line in lines)]


async def script(small_authority: SmallAuthority, folder: Path, body: str, **environment: str) -> str:
    """What a program prints that ends well and complains of nothing."""
    program = await asyncio.create_subprocess_exec(
        *command(small_authority, folder, body),
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, errors = await asyncio.wait_for(program.communicate(), WITHIN_S)
    assert (program.returncode, errors.decode()) == (0, "")
    return out.decode()
