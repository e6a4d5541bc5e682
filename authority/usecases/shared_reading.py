"""One reading for all who wait for it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class SharedReading(Generic[Value]):
    """Reads on behalf of many at once, and for each of them no earlier than it asked.

    One reading is under way at a time: who asks meanwhile shares the next one, which begins when that has ended. So
    what was withdrawn before somebody asked is not in what it gets, and a thousand who ask together cost one or two.
    """

    def __init__(self, read: Callable[[], Awaitable[Value]]) -> None:
        self._read = read
        self._under_way: asyncio.Task[Value] | None = None
        self._next: asyncio.Task[Value] | None = None

    async def __call__(self) -> Value:
        """What is read from now on. Raises what the reading raises; who goes away takes it from nobody else."""
        if self._next is None:
            self._next = asyncio.create_task(self._read_after(self._under_way))
            # Looked at even when everybody has gone away.
            self._next.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(self._next)

    async def _read_after(self, under_way: "asyncio.Task[Value] | None") -> Value:
        if under_way is not None:
            await asyncio.wait([under_way])
        self._under_way, self._next = self._next, None
        return await self._read()
