"""Many requests over a stream: sent as there is room, answered as they are settled, sent again when a stream ends."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeAlias, TypeVar

import grpc
from google.protobuf.message import DecodeError
from grpc import aio

from capability_authority.client.batches import BatchItem
from capability_authority.client.errors import AuthorityError, DeadlineExceeded, TransportError
from capability_authority.client.retries import RetryPolicy
from capability_authority.client.statuses import KeyedCall, failure_of
from capability_authority.v1.capability_service_pb2 import StreamCommitValidatedRequest, StreamCommitValidatedResponse

__all__ = ["STREAM_WINDOW", "Connect", "StreamSettings", "StreamedItems"]

Item = TypeVar("Item", bound=BatchItem)

STREAM_WINDOW: Final = 256
"""As many as the authority reads before it has answered the first of them (semantics §10)."""
_CAUTION_S: Final = 0.1
_CLOSES_WITHIN_S: Final = 1.0
_WINDOW_BYTES: Final = 16 * 1024 * 1024
"""Of requests that are not settled: no more are taken while there are so many."""

Connect: TypeAlias = Callable[[], "aio.StreamStreamCall[bytes, bytes]"]
"""Opens a stream, with a proof of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSettings:
    """`window` items are taken before the first of them is handed over, and each has `seconds` from then on."""

    window: int
    seconds: float
    policy: RetryPolicy

    def __post_init__(self) -> None:
        """Raises `ValueError` for what could never send anything."""
        if self.window < 1 or not self.seconds > 0:
            raise ValueError(f"a stream needs a window of at least 1 and a positive timeout: {self}")


@dataclass(slots=True, eq=False)
class _Waiting(Generic[Item]):
    """An item without its final answer, and until when it may be asked for."""

    item: Item
    data: bytes
    deadline: float
    is_under_way: bool = False
    """Sent on the stream that is open, and not answered."""
    is_paused: bool = False
    """Refused for now: it is sent again after a while."""


class StreamedItems(Generic[Item]):
    """Has the items of a source answered, over as many streams, one after the other, as it takes.

    Three tasks: one takes from the source, one opens streams and reads from them (with one that writes to each), one
    minds the time. Every item that was taken comes out once, whatever happens to a stream: it is sent again under the
    same key until it is answered, enough was tried, or its time is up.
    """

    def __init__(
        self, call: KeyedCall, source: AsyncIterator[Item], connect: Connect, settings: StreamSettings
    ) -> None:
        """`call` is what a failure of the stream itself is told as."""
        self._call = call
        self._source = source
        self._connect = connect
        self._settings = settings
        self._policy = settings.policy
        self._waiting: dict[int, _Waiting[Item]] = {}
        """By tag, in the order in which they were taken: the first has least time left."""
        self._waiting_bytes = 0
        self._to_send: deque[int] = deque()
        self._settled: deque[Item] = deque()
        self._is_taken = False
        self._failure: Exception | None = None
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def settled(self) -> AsyncGenerator[Item, None]:
        """The items as they get their final answers.

        Raises, once every item that was taken has come out: what the source raised, or the `AuthorityError` with which
        the authority refused the stream itself.
        """
        serving = self._begin(self._serve())
        main = [serving, self._begin(self._take()), self._begin(self._mind_the_time())]
        try:
            while not self._is_over or self._settled:
                while self._settled:
                    yield self._settled.popleft()
                    self._tell()
                await self._change(lambda: bool(self._settled) or self._is_over or any(map(_has_failed, main)))
                for task in filter(_has_failed, main):
                    task.result()
            # The last stream ends in order, unless that takes its time.
            await asyncio.wait([serving], timeout=_CLOSES_WITHIN_S)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._failure:
            raise self._failure

    # --- what is taken, and given back -------------------------------------------------------------------------------

    async def _take(self) -> None:
        """Takes items while there is room. What the source raises is told at the end."""
        tag = 0
        try:
            while await self._room():
                item = await anext(self._source)
                tag += 1
                self._admit(tag, item)
        except StopAsyncIteration:
            pass
        except Exception as error:  # noqa: BLE001  # it is its caller's own, and goes back to it
            self._failure = self._failure or error
        self._is_taken = True
        self._tell()

    async def _room(self) -> bool:
        """Returns when another item may be taken; False when none is to be."""

        def has_room() -> bool:
            waiting = len(self._waiting) + len(self._settled)
            return self._is_taken or (waiting < self._settings.window and self._waiting_bytes < _WINDOW_BYTES)

        await self._change(has_room)
        return not self._is_taken

    def _admit(self, tag: int, item: Item) -> None:
        if item.answer is not None:
            # Refused before it could be sent.
            self._settled.append(item)
        else:
            data = StreamCommitValidatedRequest(tag=tag, commit=item.request).SerializeToString()  # type: ignore[arg-type]
            self._waiting[tag] = _Waiting(item, data, self._policy.clock() + self._settings.seconds)
            self._waiting_bytes += len(data)
            self._to_send.append(tag)
        self._tell()

    def _settle(self, tag: int) -> None:
        waiting = self._waiting.pop(tag)
        self._waiting_bytes -= len(waiting.data)
        self._settled.append(waiting.item)
        self._tell()

    # --- streams, one after the other ---------------------------------------------------------------------------------

    async def _serve(self) -> None:
        """Keeps a stream open while anything waits; pauses longer after each that brought nothing."""
        fruitless = 0
        while await self._work():
            answered, failed = await self._one_stream(fruitless * _CAUTION_S)
            fruitless = 0 if answered else fruitless + 1
            if failed is not None:
                self._tell_all(failed)
                if not failed.retryable:
                    self._failure, self._is_taken = failed, True
                    self._tell()
                    return
            if failed or fruitless:
                asked = failed.failure.retry_delay if failed else None
                await self._policy.sleep(self._policy.delay_after(max(fruitless, 1), asked))

    async def _work(self) -> bool:
        """Returns when there is something to send; False once there never will be."""
        await self._change(lambda: bool(self._waiting) or self._is_over)
        return bool(self._waiting)

    def _tell_all(self, failed: AuthorityError) -> None:
        """A stream that failed is a failed attempt of each that waits: its outcome may have been lost on the way."""
        for tag, waiting in list(self._waiting.items()):
            waiting.item.fail(failed)
            if not failed.retryable or waiting.item.attempts >= self._policy.attempts:
                self._settle(tag)

    async def _one_stream(self, caution: float) -> tuple[int, AuthorityError | None]:
        """How many outcomes one stream brought, and why it failed; None when it ended well, as an old one does."""
        answered = 0
        call = self._connect()
        # What was not answered by the last stream goes first, in the order in which it was taken.
        self._to_send = deque(tag for tag, waiting in self._waiting.items() if not waiting.is_paused)
        sending = self._begin(self._send(call, caution))
        try:
            while isinstance(data := await call.read(), bytes):
                self._note(StreamCommitValidatedResponse.FromString(data))
                answered += 1
        except aio.AioRpcError as error:
            return answered, _told_by_grpc(failure_of(self._call, error))
        except DecodeError:
            return answered, TransportError(self._call.failure(None, "an answer is not a message of this RPC"))
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            return answered, TransportError(self._call.failure(None, "the connection was closed during the stream"))
        finally:
            sending.cancel()
            call.cancel()
            for waiting in self._waiting.values():
                waiting.is_under_way = False
        return answered, None

    async def _send(self, call: "aio.StreamStreamCall[bytes, bytes]", caution: float) -> None:
        """Sends what waits, and what comes, until there is no more; whoever reads learns why a stream ends.

        Nothing is sent before the stream is open, for a write that fails hides why it was refused. When the last one
        brought nothing, some seconds of caution let the status of this one come first.
        """
        try:
            await call.initial_metadata()
            if caution:
                await self._policy.sleep(caution)
            while not call.done():
                while self._to_send:
                    waiting = self._waiting.get(self._to_send.popleft())
                    if waiting is not None:
                        waiting.is_under_way = True
                        await call.write(waiting.data)
                if self._is_over:
                    await call.done_writing()
                    return
                await self._change(lambda: bool(self._to_send) or self._is_over)
        except (aio.AioRpcError, asyncio.InvalidStateError):
            return

    def _note(self, response: StreamCommitValidatedResponse) -> None:
        """Takes an outcome in. One for an item that has come out, because its time was up, says nothing new."""
        tag, waiting = response.tag, self._waiting.get(response.tag)
        if waiting is None:
            return
        item, waiting.is_under_way = waiting.item, False
        item.take(response.outcome)
        delay = None
        if isinstance(item.answer, AuthorityError) and item.is_open and item.attempts < self._policy.attempts:
            delay = self._policy.delay_after(item.attempts, item.answer.failure.retry_delay)
        if delay is None or self._policy.clock() + delay >= waiting.deadline:
            self._settle(tag)
        else:
            self._begin(self._send_again(tag, waiting, delay))

    async def _send_again(self, tag: int, waiting: _Waiting[Item], delay: float) -> None:
        waiting.is_paused = True
        await self._policy.sleep(delay)
        waiting.is_paused = False
        self._to_send.append(tag)
        self._tell()

    # --- time ---------------------------------------------------------------------------------------------------------

    async def _mind_the_time(self) -> None:
        """Lets out, one after the other, items whose time is up."""
        while True:
            await self._change(lambda: bool(self._waiting))
            tag, waiting = next(iter(self._waiting.items()))
            left = waiting.deadline - self._policy.clock()
            if left > 0:
                await self._policy.sleep(left)
                continue
            self._give_up(waiting)
            self._settle(tag)

    def _give_up(self, waiting: _Waiting[Item]) -> None:
        """What an item was refused for before says more than that its time is up, unless it was sent again since."""
        item = waiting.item
        if waiting.is_under_way:
            item.fail(DeadlineExceeded(item.call.failure(grpc.StatusCode.DEADLINE_EXCEEDED, "no outcome in time")))
        elif item.answer is None:
            sentence = "not sent: its time ran out before"
            item.answer = DeadlineExceeded(item.call.failure(grpc.StatusCode.DEADLINE_EXCEEDED, sentence))

    # --- together -----------------------------------------------------------------------------------------------------

    @property
    def _is_over(self) -> bool:
        return self._is_taken and not self._waiting

    def _begin(self, work: "asyncio._CoroutineLike[None]") -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._end)
        return task

    def _end(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        self._tell()

    def _tell(self) -> None:
        """Wakes whoever waits for a change."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def _change(self, condition: Callable[[], bool]) -> None:
        """Returns once the condition holds."""
        while not condition():
            await self._changed.wait()


def _told_by_grpc(failed: AuthorityError) -> AuthorityError:
    """A stream that ends while it is written to ends for gRPC by the failed write, whatever its status was.

    Another one is opened then, with caution: if the authority has a reason, it is told before anything is sent.
    """
    if not isinstance(failed, TransportError) or failed.code is not grpc.StatusCode.INTERNAL:
        return failed
    return TransportError(replace(failed.failure, sentence="the stream ended while it was written to", retry_delay=0.0))


def _has_failed(task: "asyncio.Task[None]") -> bool:
    return task.done() and not task.cancelled() and task.exception() is not None


def _is_cancelled() -> bool:
    """Whether it is our own caller that gave up."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
