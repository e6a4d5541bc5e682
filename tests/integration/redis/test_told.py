"""What is only told to Redis: nobody waits for it, and it arrives in its order."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
from redis.asyncio import Redis

from authority.embedded import ValkeyServer, start_valkey
from authority.redis.link import LinkSettings
from tests.redis_room import PATIENT, eventually, operator_at, room_at

LONG = replace(PATIENT, linger_ms=3_600_000)
"""What is told waits for company without end."""


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyServer]:
    with start_valkey(tmp_path_factory.mktemp("told") / "data") as server:
        yield server


@pytest.fixture
async def operator(valkey: ValkeyServer) -> AsyncIterator[Redis]:
    async with operator_at(valkey.url) as client:
        await client.flushall()
        yield client


async def test_what_is_told_goes_with_the_next_question_and_before_it(valkey: ValkeyServer, operator: Redis) -> None:
    async with room_at(valkey.url, settings=LONG) as room:
        # given two things told, which wait
        room.link.tell("SET", "told", "first")
        room.link.tell("SET", "told", "second")
        assert await operator.get("told") is None
        # when something is asked, then they were heard before it
        assert await room.link.ask("GET", "told") == b"second"


async def test_what_is_told_goes_soon_when_nothing_is_asked(valkey: ValkeyServer, operator: Redis) -> None:
    async with room_at(valkey.url) as room:
        room.link.tell("SET", "told", "alone")
        while await operator.get("told") is None:
            assert room.link.health.available


async def test_what_was_told_is_sent_before_the_link_closes(valkey: ValkeyServer, operator: Redis) -> None:
    async with room_at(valkey.url, settings=LONG) as room:
        room.link.tell("SET", "told", "last")
    assert await operator.get("told") == b"last"
    # and what is told later reaches nobody, and raises nothing
    room.link.tell("SET", "told", "too late")
    assert await operator.get("told") == b"last"


async def test_b05_what_is_told_while_redis_is_away_is_given_up(tmp_path_factory: pytest.TempPathFactory) -> None:
    with start_valkey(tmp_path_factory.mktemp("away") / "data") as server:
        async with room_at(server.url, settings=LinkSettings(wait_ms=5_000, waiting_commands=2)) as room:
            server.kill()
            room.link.tell("SET", "told", "in vain")
            await eventually(lambda: not room.link.health.available)
            room.link.tell("SET", "told", "in vain")
            assert room.link.health.unanswered == 2


async def test_what_waits_is_bounded(valkey: ValkeyServer, operator: Redis) -> None:
    async with room_at(valkey.url, settings=replace(LONG, waiting_commands=2)) as room:
        for number in range(3):
            room.link.tell("SET", f"told {number}", "")
        assert await operator.keys() == []
        await room.link.flush()
        assert sorted(await operator.keys()) == [b"told 0", b"told 1"]
        assert room.link.health.unanswered == 1


async def test_whoever_waits_until_it_is_heard_finds_it_at_the_server(valkey: ValkeyServer, operator: Redis) -> None:
    async with room_at(valkey.url, settings=LONG) as room:
        # given something told, which would wait without end
        room.link.tell("SET", "told", "first")
        room.link.tell("SET", "told", "last")
        # when its teller waits until it is heard, then it stands at the server
        await room.link.heard()
        assert await operator.get("told") == b"last"
        # and there is nothing to wait for when nothing was told
        await room.link.heard()


async def test_b05_nobody_waits_to_be_heard_by_a_server_that_is_away(tmp_path_factory: pytest.TempPathFactory) -> None:
    with start_valkey(tmp_path_factory.mktemp("deaf") / "data") as server:
        async with room_at(server.url, settings=PATIENT) as room:
            server.kill()
            room.link.tell("SET", "told", "in vain")
            await room.link.heard()
            assert not room.link.health.available
            room.link.tell("SET", "told", "in vain")
            await room.link.heard()
