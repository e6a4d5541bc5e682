"""Items over streams, on calls that do what the test says when it says so."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from grpc import aio

from capability_authority.client import DeadlineExceeded, InProgress, RetryPolicy, Unavailable
from capability_authority.client.batches import BatchItem
from capability_authority.client.rpcs import RPCS
from capability_authority.client.statuses import KeyedCall
from capability_authority.client.streams import StreamedItems, StreamSettings
from capability_authority.v1.capability_service_pb2 import (
    CommitOutcome,
    CommitValidatedRequest,
    CommitValidatedResponse,
    Presentation,
    StreamCommitValidatedRequest,
    StreamCommitValidatedResponse,
)
from tests.integration.client.witness import Refusal

RPC = RPCS["StreamCommitValidated"]
BUSY = Refusal(grpc.StatusCode.ABORTED, "IN_PROGRESS", retry_delay=30.0)
GONE = aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, aio.Metadata(), aio.Metadata(), "connection reset")
BROKEN = aio.AioRpcError(grpc.StatusCode.INTERNAL, aio.Metadata(), aio.Metadata(), "Internal error from Core")
MIB = 1024 * 1024


def item(key: str, content: bytes = b"text") -> BatchItem:
    """A commit under this key."""
    presentation = Presentation(content=content, commit_idempotency_key=key)
    return BatchItem(KeyedCall(RPC, "commit_idempotency_key", key), CommitValidatedRequest(presentation=presentation))


@dataclass
class Call:
    """One stream."""

    sent: list[str] = field(default_factory=list)
    tags: dict[str, int] = field(default_factory=dict)
    closed: bool = False
    cancelled: bool = False
    opened: asyncio.Event = field(default_factory=asyncio.Event)
    _answers: "asyncio.Queue[bytes | aio.AioRpcError | None]" = field(default_factory=asyncio.Queue)

    async def initial_metadata(self) -> None:
        await self.opened.wait()

    async def write(self, data: bytes) -> None:
        request = StreamCommitValidatedRequest.FromString(data)
        key = request.commit.presentation.commit_idempotency_key
        self.sent.append(key)
        self.tags[key] = request.tag

    async def read(self) -> object:
        answer = await self._answers.get()
        if isinstance(answer, aio.AioRpcError):
            raise answer
        return aio.EOF if answer is None else answer

    async def done_writing(self) -> None:
        self.closed = True
        self.end()

    def done(self) -> bool:
        return False

    def cancel(self) -> None:
        self.cancelled = True

    def answer(self, key: str, refusal: Refusal | None = None) -> None:
        """The outcome of one item."""
        outcome = CommitOutcome(status=refusal.status()) if refusal else CommitOutcome(result=CommitValidatedResponse())
        response = StreamCommitValidatedResponse(tag=self.tags[key], outcome=outcome)
        self._answers.put_nowait(response.SerializeToString())

    def end(self, error: aio.AioRpcError | None = None) -> None:
        """Well, or with an error."""
        self._answers.put_nowait(error)


@dataclass
class Time:
    """Passes when the test says so."""

    now: float = 0.0
    sleepers: list[tuple[float, asyncio.Event]] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        self.sleepers.append((self.now + seconds, woken))
        await woken.wait()

    async def pass_(self, seconds: float) -> None:
        """And lets everybody go on who can."""
        self.now += seconds
        for wakes, woken in self.sleepers:
            if wakes <= self.now:
                woken.set()
        await turns()


async def turns(number: int = 30) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


@dataclass
class Room:
    """A stream of items under test; `came_out` are those that have their final answers."""

    time: Time = field(default_factory=Time)
    calls: list[Call] = field(default_factory=list)
    came_out: list[BatchItem] = field(default_factory=list)
    open_at_once: bool = True

    def connect(self) -> Any:  # what stands in for gRPC's call
        call = Call()
        if self.open_at_once:
            call.opened.set()
        self.calls.append(call)
        return call

    @asynccontextmanager
    async def streaming(self, *items: BatchItem, window: int = 8) -> AsyncIterator[None]:
        """Has the items streamed meanwhile; each has 100 seconds."""

        async def source() -> AsyncIterator[BatchItem]:
            for one in items:
                yield one

        policy = RetryPolicy(sleep=self.time.sleep, clock=lambda: self.time.now, random=lambda: 0.5)
        settings = StreamSettings(window=window, seconds=100.0, policy=policy)
        streamed = StreamedItems(KeyedCall(RPC), source(), self.connect, settings)
        running = asyncio.create_task(self._read(streamed.settled()))
        await turns()
        try:
            yield
        finally:
            running.cancel()
            await asyncio.wait([running])
            # gRPC lets a call be cancelled that is over; one that is not must be.
            assert all(call.cancelled for call in self.calls)

    async def _read(self, settled: AsyncGenerator[BatchItem, None]) -> None:
        async with aclosing(settled):
            async for one in settled:
                self.came_out.append(one)

    def keys(self) -> list[str]:
        return [one.call.key for one in self.came_out]


async def test_nothing_is_sent_before_the_stream_is_open() -> None:
    room = Room(open_at_once=False)
    async with room.streaming(item("a")):
        (call,) = room.calls
        assert call.sent == []
        call.opened.set()
        await turns()
        assert call.sent == ["a"]
        call.answer("a")
        await turns()
        # and it ends in order
        assert call.closed
    assert room.keys() == ["a"]


async def test_after_a_stream_that_brought_nothing_the_next_is_written_to_with_caution() -> None:
    # Given a stream that ended while it was written to, for gRPC by an error of its own
    room = Room()
    async with room.streaming(item("a")):
        room.calls[0].end(BROKEN)
        await turns()
        await room.time.pass_(0.06)
        # When another one is opened, then its status has a while to come before anything is sent
        second = room.calls[1]
        assert second.sent == []
        await room.time.pass_(0.1)
        assert second.sent == ["a"]
        # And one that brings something is no reason for caution, however it ends
        second.answer("a", Refusal(grpc.StatusCode.ABORTED, "CONTENTION"))
        await turns()
        second.end(GONE)
        await turns()
        await room.time.pass_(1)
        assert room.calls[2].sent == ["a"]


async def test_what_waits_after_a_refusal_for_now_is_sent_when_its_time_has_come_and_not_before() -> None:
    room = Room()
    async with room.streaming(item("busy"), item("other")):
        first = room.calls[0]
        first.answer("busy", BUSY)
        await turns()
        # When the stream ends meanwhile, then the next one begins with the other alone
        first.end()
        await turns()
        second = room.calls[1]
        assert second.sent == ["other"]
        await room.time.pass_(31)
        assert second.sent == ["other", "busy"]
        second.answer("busy")
        second.answer("other")
        await turns()
    assert room.keys() == ["busy", "other"]


async def test_what_would_be_sent_again_too_late_is_told_at_once() -> None:
    room = Room()
    async with room.streaming(item("busy")):
        await room.time.pass_(80)
        room.calls[0].answer("busy", BUSY)
        await turns()
        assert isinstance(room.came_out[0].answer, InProgress)


async def test_an_outcome_that_comes_too_late_says_nothing_new() -> None:
    room = Room()
    async with room.streaming(item("late"), item("next"), window=1):
        call = room.calls[0]
        await room.time.pass_(100)
        assert isinstance(room.came_out[0].answer, DeadlineExceeded)
        call.answer("late")
        await turns()
        call.answer("next")
        await turns()
    assert room.keys() == ["late", "next"]
    assert isinstance(room.came_out[0].answer, DeadlineExceeded)


async def test_what_failed_with_its_stream_and_was_not_sent_again_is_told_what_it_failed_by() -> None:
    # Given an item whose stream is cut, and whose time is up before the next one is open
    room = Room()
    async with room.streaming(item("a")):
        await room.time.pass_(99)
        room.open_at_once = False
        room.calls[0].end(GONE)
        await turns()
        await room.time.pass_(0.2)
        await room.time.pass_(1)
        assert len(room.calls) == 2
    answer = room.came_out[0].answer
    assert not isinstance(answer, Unavailable | DeadlineExceeded)
    assert "connection reset" in str(answer)


async def test_no_more_bytes_are_taken_than_may_wait() -> None:
    room = Room()
    async with room.streaming(*(item(f"k{number}", bytes(3 * MIB)) for number in range(8))):
        assert len(room.calls[0].sent) == 6
        room.calls[0].answer("k0")
        await turns()
        assert len(room.calls[0].sent) == 7


async def test_streams_that_end_at_once_are_opened_less_and_less_often() -> None:
    # Given streams that end well and bring nothing
    waits: list[float] = []
    room = Room()
    async with room.streaming(item("a")):
        for _ in range(4):
            room.calls[-1].end()
            await turns()
            begun, opened = room.time.now, len(room.calls)
            while len(room.calls) == opened:
                await room.time.pass_(0.01)
            waits.append(room.time.now - begun)
    assert room.came_out == []
    assert waits == sorted(waits)
