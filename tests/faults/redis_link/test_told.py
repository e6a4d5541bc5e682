"""What health and log tell of Redis."""

import re

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError
from structlog.testing import capture_logs

from authority.embedded import ValkeyServer
from authority.redis.connection import connect
from tests.faults.redis_link.scene import (
    calls_of,
    expect_everything_not_seen,
)
from tests.redis_room import (
    Forwarder,
    Room,
    eventually,
)


async def test_health_and_log_tell_when_redis_went_and_came_and_nothing_secret(
    valkey: ValkeyServer, room: Room
) -> None:
    # given Redis there
    assert room.link.health.available
    assert room.link.health.since == room.clock.now()

    with capture_logs() as log:
        # when it goes, and is missed several times by calls
        valkey.kill()
        room.clock.advance(5_000)
        went = room.clock.now()
        await expect_everything_not_seen(room)

        # then the health tells since when and why, and counts: four calls, and a look at the memory
        await eventually(lambda: room.link.health.unanswered == 5)
        health = room.link.health
        assert (health.available, health.reason, health.since) == (False, "ConnectionError", went)
        assert health.failures == 1

        # and when it was looked for in vain, and is back, that
        room.gate.open()
        await eventually(lambda: room.link.health.failures >= 3)
        assert room.link.health.since == went
        valkey.restart()
        room.clock.advance(5_000)
        await room.recovers()
        assert (room.link.health.reason, room.link.health.since) == ("", room.clock.now())

    # and each was logged once, without a name, a value or an address
    assert log == [
        {"event": "redis_away", "reason": "ConnectionError", "log_level": "warning"},
        {"event": "redis_back", "away_ms": 5_000, "unanswered": 5, "log_level": "info"},
    ]


async def test_whoever_wants_to_know_hears_when_redis_went_and_came(valkey: ValkeyServer, room: Room) -> None:
    # given somebody who hears the health
    heard: list[bool] = []
    room.link.watch(lambda health: heard.append(health.available))
    assert heard == [True]

    # when Redis goes, is looked for in vain, and comes back
    valkey.kill()
    await expect_everything_not_seen(room)
    room.gate.open()
    await eventually(lambda: room.link.health.failures >= 3)
    valkey.restart()
    await room.recovers()

    # then they heard of each change once
    assert heard == [True, False, True]


async def test_a_look_finds_out_without_a_call(valkey: ValkeyServer, room: Room, operator: Redis) -> None:
    # given nobody who calls
    await room.link.look()
    assert room.link.health.available

    # when Redis takes no writes any more, then a look tells
    await operator.config_set("maxmemory", 1)
    await room.link.look()
    assert room.link.health.reason == "OutOfMemoryError"

    # and while Redis is left alone it asks nothing
    asked = await calls_of(operator, "set")
    await room.link.look()
    assert await calls_of(operator, "set") == asked
    assert room.link.health.unanswered == 1


async def test_the_client_repeats_nothing_by_itself(valkey: ValkeyServer, operator: Redis) -> None:
    # given a network that loses one reply
    async with Forwarder(valkey.url) as network:
        client = connect(network.url)
        await client.ping()
        network.loses_reply_to = re.compile(rb"SET")

        # when a command's reply is lost, then the client says so and the server executed it once (case B02)
        with pytest.raises(RedisError):
            await client.set("key", "value", nx=True, px=1_000)
        assert await calls_of(operator, "set") == 1
        await client.aclose()
