"""A process that is busy itself does not take Redis for hung: a wait counts only what the server took."""

import asyncio

from authority.embedded import ValkeyServer
from authority.redis.link import LinkSettings
from authority.usecases.ports import DatabaseGeneration, Sighting
from tests.faults.redis_link.scene import (
    stand_still,
)
from tests.redis_room import (
    CLAIM,
    receipt_of,
    room_at,
)

DATABASE = DatabaseGeneration("7301", "1")


async def test_a_stall_of_our_own_loop_is_not_taken_for_a_hang_of_redis(valkey: ValkeyServer) -> None:
    # given a settled claim, and a link that waits for 200 ms
    async with room_at(valkey.url, settings=LinkSettings(wait_ms=200)) as room:
        await room.leases.settle(CLAIM, "token", receipt_of(CLAIM))
        for turns in range(12):
            # when our loop stands still for longer than that, at another point of the call's road each time
            caller = asyncio.create_task(room.leases.sight(CLAIM))
            for _ in range(turns):
                await asyncio.sleep(0)
            stand_still(0.3)

            # then the reply, which came meanwhile, is read
            assert await caller == Sighting(None, receipt_of(CLAIM))
        assert room.link.health.failures == 0


async def test_a_loop_that_is_busy_all_the_time_is_not_taken_for_a_hang_of_redis(valkey: ValkeyServer) -> None:
    # given a settled claim, and work of our own in every turn of the loop, for longer than the link waits
    async with room_at(valkey.url, generation=DATABASE) as room:
        await room.leases.settle(CLAIM, "token", receipt_of(CLAIM))
    async with room_at(valkey.url, settings=LinkSettings(wait_ms=20), generation=DATABASE) as room:
        busy = asyncio.create_task(_work_in_every_turn(0.03))

        # when Redis is asked, first over a connection that is still to be made
        sightings = [await room.leases.sight(CLAIM) for _ in range(3)]

        # then it answers each time, and is not left alone
        busy.cancel()
        assert sightings == [Sighting(None, receipt_of(CLAIM))] * 3
        assert room.link.health.failures == 0


async def _work_in_every_turn(seconds: float) -> None:
    while True:
        stand_still(seconds)
        await asyncio.sleep(0)
