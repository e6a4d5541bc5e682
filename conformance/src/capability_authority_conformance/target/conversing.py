"""A stream of requests: sent once the target had the chance to refuse it, for then its reason would be lost."""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import suppress
from typing import Final, TypeAlias

from grpc import aio

__all__ = ["conversed"]

Stream: TypeAlias = "aio.StreamStreamCall[bytes, bytes]"

_OPENS_WITHIN_S: Final = 1.0
"""Targets need not answer anything before the first request: then they are sent it all the same."""
_REFUSES_WITHIN_S: Final = 0.3
"""The status of a stream that was refused comes with its first metadata, and is known a moment after them."""
_LOOK_S: Final = 0.01


async def conversed(stream: Stream, requests: Iterable[bytes]) -> AsyncGenerator[bytes, None]:
    """The answers, until the target ends the stream; close it. Raises `AioRpcError` when it does not end well."""
    sending = asyncio.create_task(_sent(stream, requests))
    try:
        while isinstance(data := await stream.read(), bytes):
            yield data
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        stream.cancel()


async def _sent(stream: Stream, requests: Iterable[bytes]) -> None:
    """Sends them all, unless the stream ends before; whoever reads learns why.

    A write that fails makes grpcio tell INTERNAL in place of the status that the target gave.
    """
    await _heard(stream)
    with suppress(aio.AioRpcError, asyncio.InvalidStateError):
        for request in requests:
            await stream.write(request)
        await stream.done_writing()


async def _heard(stream: Stream) -> None:
    """Returns once the stream has ended, or is likely to be open."""
    opening = asyncio.ensure_future(stream.initial_metadata())
    await asyncio.wait((opening,), timeout=_OPENS_WITHIN_S)
    opening.cancel()
    ends = time.monotonic() + _REFUSES_WITHIN_S
    while not stream.done() and time.monotonic() < ends:  # noqa: ASYNC110 - grpcio tells by no event that it ended
        await asyncio.sleep(_LOOK_S)
