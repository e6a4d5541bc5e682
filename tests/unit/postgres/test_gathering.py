"""When a call begins, while others are under way."""

import asyncio
from collections.abc import Sequence
from typing import Any

from authority.domain.references import TenantRef
from authority.domain.refusal import Refusal
from authority.postgres.fair_queue import Place
from authority.postgres.gathering import Again, Answer, Gathering, GatheringSettings

TENANT = TenantRef("test", "one")
FOREVER_S = 3_600.0


class Calls:
    """Calls that stand still until they are let go, each with the items that it took."""

    def __init__(self, **settings: Any) -> None:
        self.taken: list[Sequence[int]] = []
        self._let_go: list[asyncio.Event] = []
        self.gathering: Gathering[int, int] = Gathering(
            "call", self._call, lambda item: Place(TENANT, item, 1), GatheringSettings(**settings)
        )

    async def _call(self, items: Sequence[int]) -> Sequence[int]:
        self.taken.append(items)
        self._let_go.append(asyncio.Event())
        await self._let_go[-1].wait()
        return items

    async def ask(self, *items: int) -> list[asyncio.Task[int | Refusal]]:
        """Asks one by one, and waits until whatever begins by itself has begun."""
        deadline = asyncio.get_running_loop().time() + FOREVER_S
        asked = [asyncio.create_task(self.gathering.ask(item, deadline)) for item in items]
        await self.settle()
        return asked

    async def let_go(self, number: int) -> None:
        self._let_go[number].set()
        await self.settle()

    @staticmethod
    async def settle() -> None:
        for _ in range(10):
            await asyncio.sleep(0)


async def test_a_few_that_come_while_a_call_is_under_way_wait_for_its_end() -> None:
    calls = Calls(calls=4, company=3, patience_s=FOREVER_S)
    one = await calls.ask(1)
    few = await calls.ask(2, 3)
    assert calls.taken == [[1]]
    # when the call ends
    await calls.let_go(0)
    # then they go together
    assert calls.taken == [[1], [2, 3]]
    await calls.let_go(1)
    assert await asyncio.gather(*one, *few) == [1, 2, 3]


async def test_enough_that_come_while_a_call_is_under_way_have_one_of_their_own() -> None:
    calls = Calls(calls=4, company=3, patience_s=FOREVER_S)
    one = await calls.ask(1)
    enough = await calls.ask(2, 3, 4)
    assert calls.taken == [[1], [2, 3, 4]]
    # and a slow call holds up nobody: the second may end first
    await calls.let_go(1)
    assert await asyncio.gather(*enough) == [2, 3, 4]
    await calls.let_go(0)
    assert await asyncio.gather(*one) == [1]


async def test_a_few_wait_no_longer_than_their_patience() -> None:
    # given a call that does not end
    calls = Calls(calls=2, company=3, patience_s=0.001)
    one = await calls.ask(1)
    [lonely] = await calls.ask(2)
    # then the next has a call of its own soon
    while len(calls.taken) < 2:
        await asyncio.wait([lonely], timeout=0.001)
    assert calls.taken == [[1], [2]]
    await calls.let_go(0)
    await calls.let_go(1)
    assert await asyncio.gather(*one, lonely) == [1, 2]


async def test_nothing_waits_while_no_call_is_under_way() -> None:
    calls = Calls(calls=4, company=100, patience_s=FOREVER_S)
    for number in range(3):
        [asked] = await calls.ask(number)
        await calls.let_go(number)
        assert await asked == number


async def test_what_is_asked_again_goes_together_in_its_order() -> None:
    # given a batch that finds everything locked, and calls that take one group each
    taken: list[Sequence[int]] = []

    async def call(items: Sequence[int]) -> Sequence[Answer[int]]:
        taken.append(items)
        return [Again.BUSY if len(taken) == 1 and item != 2 else item for item in items]

    settings = GatheringSettings(items_per_call=1, pause_least_s=0.001)
    gathering: Gathering[int, int] = Gathering("call", call, lambda item: Place(TENANT, item, 1), settings)
    # when it is asked
    outcomes = await gathering.ask_together([1, 2, 3], asyncio.get_running_loop().time() + FOREVER_S)
    # then what was not answered comes again in one call, in which the first still comes first
    assert taken == [[1, 2, 3], [1, 3]]
    assert outcomes == [1, 2, 3]
