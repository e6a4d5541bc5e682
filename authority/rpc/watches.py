"""Serves watches: what there is to tell, message after message, until the stream ends."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from google.protobuf.message import Message
from grpc import aio

from authority.domain.refusal import Refusal
from authority.rpc.current_call import Context
from authority.rpc.open_streams import OpenStream
from authority.rpc.refused import value_or_refuse

Tidings_co = TypeVar("Tidings_co", covariant=True)
Tidings = TypeVar("Tidings")


class Watch(Protocol[Tidings_co]):
    """A watch as its use case opens it."""

    def listening(self) -> AbstractContextManager[asyncio.Event]:
        """What wakes it while the block lasts."""
        ...

    async def next(self, woken: asyncio.Event) -> Tidings_co | Refusal:
        """What to tell next."""
        ...


async def serve_watch(
    watch: Watch[Tidings], message_of: Callable[[Tidings], Message], context: Context, stream: OpenStream
) -> None:
    """Tells until the stream ends: it is old, the server stops, or its caller is gone. Raises `Refused`.

    One message is in memory at a time: the next is read once the caller has room for this one.
    """
    with watch.listening() as woken:
        while not stream.ends.is_set():
            tidings = await _unless(stream.ends, watch.next(woken))
            if tidings is None:
                return
            try:
                await context.write(message_of(value_or_refuse(tidings)).SerializeToString())
            except aio.BaseError:
                # There is nobody to write to; gRPC is about to cancel this call.
                return


async def _unless(ends: asyncio.Event, work: Awaitable[Tidings]) -> Tidings | None:
    """What the work answers, or None when the stream ends before: what was read and not told is found by the cursor."""
    working, ending = asyncio.ensure_future(work), asyncio.ensure_future(ends.wait())
    try:
        await asyncio.wait((working, ending), return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        ending.cancel()
        if not working.done():
            working.cancel()
            await asyncio.wait((working,))
            # Looked at, so that nobody complains of it.
            working.cancelled() or working.exception()
