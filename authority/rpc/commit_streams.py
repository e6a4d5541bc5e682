"""Serves streams of commits: one reader, one writer, and a task for each item between them."""

import asyncio
from collections import deque
from dataclasses import dataclass

from grpc import aio

from authority.domain import limits
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.rpc.bounds import Bounds, end_of
from authority.rpc.convert import capabilities as convert
from authority.rpc.convert import values
from authority.rpc.current_call import Context, current_stream, traceparent_of
from authority.rpc.incidents import Incidents
from authority.rpc.interceptors.reading import read, refuse_unknown
from authority.rpc.open_streams import OpenStream
from authority.rpc.refused import Refused
from authority.rpc.window import Window
from authority.telemetry import spans
from authority.telemetry.names import STREAM_ITEM
from authority.usecases.commit import CommitRequest
from authority.usecases.commit_stream import CommitItem
from capability_authority.v1 import capability_service_pb2 as pb

_METHOD = "StreamCommitValidated"


@dataclass(frozen=True, slots=True)
class CommitStreams:
    """What every stream of commits is served with."""

    bounds: Bounds
    incidents: Incidents

    async def serve(self, commit: CommitItem, context: Context) -> None:
        """Serves this call, which is an open stream, to its end. Raises `Refused` with what ends it early."""
        await _CommitStream(self, commit, context, current_stream()).run()


class _CommitStream:
    """One stream.

    Every item that was read has an outcome, whatever ends the reading: the caller's half-close, the age of the stream,
    the end of the server, bytes that are no item, a caller who was revoked. When the caller itself goes away, items
    that were sent to the database are finished there and all else is dropped.
    """

    def __init__(self, served: CommitStreams, commit: CommitItem, context: Context, stream: OpenStream) -> None:
        self._served = served
        self._commit = commit
        self._context = context
        self._ends = stream.ends
        self._call_ends = end_of(context)
        self._traceparent = traceparent_of(context)
        self._window = Window(items=limits.STREAM_WINDOW, size=limits.STREAM_BYTES)
        self._items: set[asyncio.Task[None]] = set()
        self._outcomes: deque[bytes] = deque()
        self._news = asyncio.Event()
        self._failure: BaseException | None = None

    async def run(self) -> None:
        """Reads until the stream ends, and returns once everything is answered. Raises what ended it early."""
        reading, writing = asyncio.create_task(self._read_all()), asyncio.create_task(self._write_all())
        try:
            await self._ends.wait()
            # What arrives from now on was not read: its sender learns so from there being no outcome.
            reading.cancel()
            self._news.set()
            await writing
        finally:
            for task in (reading, writing, *self._items):
                task.cancel()
        if self._failure:
            raise self._failure

    async def _read_all(self) -> None:
        try:
            while True:
                await self._window.room()
                raw = await self._context.read()
                if raw is aio.EOF or self._ends.is_set():
                    return
                self._accept(raw)
        except Exception as failure:  # noqa: BLE001 - told once everything is answered
            self._failure = failure
        finally:
            self._ends.set()

    def _accept(self, raw: bytes) -> None:
        """Begins with an item. Raises `Refused` for bytes that are none: nobody could be told by which tag."""
        message = read(pb.StreamCommitValidatedRequest.FromString, raw)
        size = len(raw)
        self._window.take(size)
        task = asyncio.create_task(self._settle(message.tag, self._asked(message, raw), size))
        self._items.add(task)
        task.add_done_callback(self._let_go)

    def _let_go(self, task: "asyncio.Task[None]") -> None:
        self._items.discard(task)
        if not task.cancelled() and task.exception():
            self._failure = task.exception()
            self._ends.set()
        self._news.set()

    def _asked(self, message: pb.StreamCommitValidatedRequest, raw: bytes) -> CommitRequest | Refusal:
        try:
            refuse_unknown(pb.StreamCommitValidatedRequest.FromString, raw, message)
            values.require(message, "commit")
        except Refused as refused:
            return _told_as_of_a_commit(refused.refusal)
        return convert.commit_item(message.commit, self._served.bounds.deadline(self._call_ends), self._traceparent)

    async def _settle(self, tag: int, asked: CommitRequest | Refusal, size: int) -> None:
        with spans.below(STREAM_ITEM):
            answer = await self._served.incidents.answer_of(_METHOD, self._commit(asked))
        self._window.settle(size)
        outcome = pb.StreamCommitValidatedResponse(tag=tag, outcome=convert.outcome(answer))
        self._outcomes.append(outcome.SerializeToString())
        self._news.set()
        if isinstance(answer, Refusal) and answer.reason is Reason.CALLER_UNAUTHENTICATED:
            self._failure = Refused(answer)
            self._ends.set()

    async def _write_all(self) -> None:
        """Writes outcomes as they come, until the stream has ended and all is answered, or its caller is gone."""
        try:
            while self._items or self._outcomes or not self._ends.is_set():
                await self._news.wait()
                self._news.clear()
                while self._outcomes:
                    await self._context.write(self._outcomes.popleft())
                    self._window.answer()
        except aio.BaseError:
            # There is nobody to write to; gRPC is about to cancel this call.
            self._ends.set()


def _told_as_of_a_commit(refusal: Refusal) -> Refusal:
    """Fields are named as CommitValidated names them, whoever refuses them."""
    path = refusal.facts["field"].removeprefix("commit.")
    return Refusal(refusal.reason, {**refusal.facts, "field": path})
