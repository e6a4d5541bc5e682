"""One reading for all who wait, and for none of them an older one."""

import asyncio
from itertools import count

import pytest

from authority.usecases.shared_reading import SharedReading


class Source:
    """Answers with the number of the reading, once it is let."""

    def __init__(self) -> None:
        self.begun = 0
        self.fault: Exception | None = None
        self._may_end: asyncio.Queue[None] = asyncio.Queue()
        self._numbers = count(1)

    async def __call__(self) -> int:
        self.begun += 1
        number = next(self._numbers)
        await self._may_end.get()
        if self.fault:
            raise self.fault
        return number

    def let(self) -> None:
        """One reading ends."""
        self._may_end.put_nowait(None)


async def turns(number: int = 10) -> None:
    """Lets everybody go on who can."""
    for _ in range(number):
        await asyncio.sleep(0)


async def test_who_asks_together_shares_one_reading() -> None:
    source = Source()
    shared = SharedReading(source)
    asking = [asyncio.create_task(shared()) for _ in range(50)]
    await turns()
    source.let()
    assert await asyncio.gather(*asking) == [1] * 50
    assert source.begun == 1


async def test_i11_nobody_gets_what_was_read_before_it_asked() -> None:
    # given a reading under way
    source = Source()
    shared = SharedReading(source)
    first = asyncio.create_task(shared())
    await turns()
    # when others ask meanwhile, then they wait for the next one, which they share
    others = [asyncio.create_task(shared()) for _ in range(50)]
    await turns()
    assert source.begun == 1
    source.let()
    assert await first == 1
    await turns()
    assert source.begun == 2
    # and so does whoever asks while that is under way
    last = asyncio.create_task(shared())
    await turns()
    source.let()
    assert await asyncio.gather(*others) == [2] * 50
    await turns()
    source.let()
    assert await last == 3


async def test_who_goes_away_takes_it_from_nobody_else() -> None:
    source = Source()
    shared = SharedReading(source)
    gone, staying = asyncio.create_task(shared()), asyncio.create_task(shared())
    await turns()
    gone.cancel()
    await turns()
    source.let()
    assert await staying == 1
    assert gone.cancelled()


async def test_a_reading_that_fails_fails_for_those_who_wait_and_for_nobody_after() -> None:
    source = Source()
    shared = SharedReading(source)
    source.fault = OSError("away")
    asking = [asyncio.create_task(shared()) for _ in range(3)]
    await turns()
    later = asyncio.create_task(shared())
    await turns()
    source.let()
    for task in asking:
        with pytest.raises(OSError, match="away"):
            await task
    source.fault = None
    source.let()
    assert await later == 2
