"""Redis gone, hung or never there: nobody waits long, and nothing needs a restart (case B05)."""

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from authority.domain.refusal import Refusal
from authority.embedded import ValkeyServer
from authority.redis.link import LinkSettings
from authority.usecases.ports import Sighting
from tests.faults.redis_link.scene import (
    A_SMALL_PART_OF_A_DEADLINE_S,
    HASTY,
    NOT_SEEN,
    RUNNING,
    UNAVAILABLE,
    expect_everything_not_seen,
)
from tests.redis_room import (
    CLAIM,
    Room,
    eventually,
    numbered,
    receipt_of,
    room_at,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


async def test_b05_a_server_that_was_never_there_hinders_no_commit(valkey: ValkeyServer) -> None:
    # given a process that starts without Redis
    valkey.kill()
    async with room_at(valkey.url) as room:
        began = time.monotonic()
        await expect_everything_not_seen(room)
        assert time.monotonic() - began < A_SMALL_PART_OF_A_DEADLINE_S

        # when Redis comes, then it is used without a restart of ours
        valkey.restart()
        await room.recovers()
        await room.leases.take(CLAIM, "token")
        assert await room.leases.sight(CLAIM) == RUNNING
        assert await room.nonces.use("key", b"nonce") is None


@pytest.mark.parametrize("mood", ["killed", "hung"])
@pytest.mark.parametrize("step", ["sight", "take", "settle"])
async def test_b05_redis_may_go_before_any_step_of_a_commit(
    valkey: ValkeyServer, hasty_room: Room, mood: str, step: str
) -> None:
    # given a commit that is under way when Redis goes
    steps: dict[str, Callable[[], Awaitable[object]]] = {
        "sight": lambda: hasty_room.leases.sight(CLAIM),
        "take": lambda: hasty_room.leases.take(CLAIM, "token"),
        "settle": lambda: hasty_room.leases.settle(CLAIM, "token", receipt_of(CLAIM)),
    }
    for name, work in steps.items():
        if name == step:
            valkey.kill() if mood == "killed" else valkey.pause()
        # then each step ends soon, and none raises
        began = time.monotonic()
        await work()
        assert time.monotonic() - began < A_SMALL_PART_OF_A_DEADLINE_S
    assert hasty_room.link.health.reason == ("ConnectionError" if mood == "killed" else "TimeoutError")
    assert await hasty_room.nonces.use("key", b"nonce") == UNAVAILABLE

    # and when Redis is back it is used again
    valkey.restart() if mood == "killed" else valkey.resume()
    await hasty_room.recovers()
    await hasty_room.leases.settle(CLAIM, "token", receipt_of(CLAIM))
    assert await hasty_room.leases.sight(CLAIM) == Sighting(None, receipt_of(CLAIM))


async def test_b05_a_hang_costs_one_wait_for_all(valkey: ValkeyServer, hasty_room: Room) -> None:
    # given a server that hangs
    await hasty_room.leases.sight(CLAIM)
    valkey.pause()

    # when two hundred calls come at once, then all of them end with the one wait
    began = time.monotonic()
    await asyncio.gather(*(hasty_room.leases.sight(claim) for claim in numbered(CLAIM, 100)), *uses(hasty_room, 100))
    assert time.monotonic() - began < A_SMALL_PART_OF_A_DEADLINE_S
    assert hasty_room.link.health.failures == 1

    # and a thousand that follow wait for nothing: no round trip is tried while Redis is left alone
    began = time.monotonic()
    answers = [await hasty_room.leases.sight(CLAIM) for _ in range(1_000)]
    assert time.monotonic() - began < A_SMALL_PART_OF_A_DEADLINE_S
    assert answers == [NOT_SEEN] * 1_000
    assert hasty_room.link.health.failures == 1
    assert hasty_room.link.health.unanswered == 1_200
    await eventually(lambda: hasty_room.gate.asked == [1.0])


def uses(room: Room, count: int) -> list[asyncio.Task[Refusal | None]]:
    return [asyncio.create_task(room.nonces.use("key", bytes([number]))) for number in range(count)]


async def test_b05_while_the_hang_lasts_redis_is_tried_again_in_the_background_only(
    valkey: ValkeyServer,
) -> None:
    # given a server that still hangs when the pause is over
    async with room_at(valkey.url, settings=replace(HASTY, recover_ms=100)) as room:
        valkey.pause()
        await room.leases.sight(CLAIM)
        room.gate.open()

        # when it has been tried again at least twice, then no call had a part in it or waited for it
        await eventually(lambda: room.link.health.failures >= 3)
        caller = asyncio.create_task(room.nonces.use("key", b"nonce"))
        await asyncio.sleep(0)
        assert caller.done()
        assert caller.result() == UNAVAILABLE

        # and once it goes on it is found
        valkey.resume()
        await eventually(lambda: room.link.health.available)
        assert await room.nonces.use("key", b"nonce") is None


async def test_what_waits_for_redis_is_limited(valkey: ValkeyServer) -> None:
    # given a link for which two commands may wait, one of them under way to a server that hangs
    async with room_at(valkey.url, settings=replace(HASTY, waiting_commands=2, round_trip_commands=1)) as room:
        await room.leases.sight(CLAIM)
        valkey.pause()
        waiting = [asyncio.create_task(room.leases.sight(CLAIM)) for _ in range(2)]
        await asyncio.sleep(0)

        # when one more comes, then it is answered at once, as not seen
        assert await room.leases.sight(CLAIM) == NOT_SEEN
        assert not any(task.done() for task in waiting)
        assert room.link.health.available
        assert await asyncio.gather(*waiting) == [NOT_SEEN, NOT_SEEN]


async def test_closing_the_link_lets_nobody_wait_for_ever(valkey: ValkeyServer) -> None:
    # given callers of a server that hangs
    async with room_at(valkey.url, settings=LinkSettings(wait_ms=60_000, round_trip_commands=1)) as room:
        await room.leases.sight(CLAIM)
        valkey.pause()
        callers = [asyncio.create_task(room.leases.sight(CLAIM)) for _ in range(3)]
        await asyncio.sleep(0)

        # when the link is closed, then they are answered, and so is whoever comes later
        await room.link.aclose()
        assert await asyncio.gather(*callers) == [NOT_SEEN] * 3
        assert await room.nonces.use("key", b"nonce") == UNAVAILABLE


async def test_a_wrong_password_is_redis_away(valkey: ValkeyServer) -> None:
    # given a URL whose password the server does not take
    wrong = valkey.url.replace("redis://:", "redis://:not-")
    async with room_at(wrong) as room:
        # then nothing is seen, nothing raised, and the health says why without saying what was sent
        await expect_everything_not_seen(room)
        assert not room.link.health.available
        assert room.link.health.reason in {"AuthenticationError", "AuthorizationError", "ResponseError", "WRONGPASS"}
