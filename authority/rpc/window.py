"""How much of a stream waits for its outcome: what was read, and has not been answered yet."""

import asyncio


class Window:
    """Counts items from when they are read until their outcomes are written, and their bytes until they are settled.

    One task waits for room: the one that reads.
    """

    def __init__(self, *, items: int, size: int) -> None:
        self._items_left = items
        self._bytes_left = size
        self._room: asyncio.Future[None] | None = None

    async def room(self) -> None:
        """Returns once another item may be read, of whatever size."""
        while self._items_left <= 0 or self._bytes_left <= 0:
            self._room = asyncio.get_running_loop().create_future()
            await self._room

    def take(self, size: int) -> None:
        """An item was read."""
        self._items_left -= 1
        self._bytes_left -= size

    def settle(self, size: int) -> None:
        """The item is settled: nothing is kept of it but its outcome."""
        self._bytes_left += size
        self._tell()

    def answer(self) -> None:
        """An outcome is written."""
        self._items_left += 1
        self._tell()

    def _tell(self) -> None:
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
