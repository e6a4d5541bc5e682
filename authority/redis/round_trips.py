"""Round trips to the server, each of them bounded."""

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import TypeVar, cast

from redis.asyncio import Redis
from redis.exceptions import RedisError

_SLICES = 25
"""A wait is reckoned in so many parts. A part that lasts longer, because our own loop is busy, counts for no more: the
reply may be here and only wait to be read, and connecting takes several turns of the loop."""
_CUT_OFF_S = 0.01
"""How long a round trip that is cut off may take to let its connection go."""

Result = TypeVar("Result")

Argument = str | bytes | int
Command = tuple[Argument, ...]


class RoundTrips:
    """Sends commands over a connection of the client's pool; one round trip at a time uses one connection."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def send(self, commands: Sequence[Command], seconds: float) -> list[object]:
        """The replies in order; an error reply is in its place as a RedisError. Not a transaction.

        Raises RedisError or OSError when the connection fails, TimeoutError after `seconds`, in which the time that our
        own loop was late by does not count. A round trip that is cut off, by us or by cancellation, takes its
        connection with it: no later command gets its replies (case B01).
        """
        pipeline = self._client.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        return cast("list[object]", await _bounded(pipeline.execute(raise_on_error=False), seconds))

    async def drop_connections(self) -> None:
        """Closes every connection, so that the next round trip meets the server that the address names by then."""
        with suppress(RedisError, OSError):
            await self._client.connection_pool.disconnect()

    async def aclose(self) -> None:
        """Closes the client."""
        await self._client.aclose()


async def _bounded(work: Coroutine[None, None, Result], seconds: float) -> Result:
    task = asyncio.create_task(work)
    # Looked at even when nobody waits for it any more.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        for _ in range(_SLICES):
            await asyncio.wait({task}, timeout=seconds / _SLICES)
            if task.done():
                return task.result()
        raise TimeoutError
    finally:
        if task.cancel():
            await asyncio.wait({task}, timeout=_CUT_OFF_S)
