"""Slots and expiries as a real server reckons them (cases B12, B13, B15)."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from authority.embedded import start_valkey
from authority.usecases.ports import Sighting
from tests.faults.redis_link.scene import (
    NOT_SEEN,
    RUNNING,
    calls_of,
    order,
)
from tests.redis_room import (
    CLAIM,
    LEASE_MS,
    REPLAY_MS,
    Room,
    numbered,
    operator_at,
    receipt_of,
    room_at,
)


async def test_b12_every_command_keeps_to_one_slot_of_a_cluster(tmp_path: Path) -> None:
    # given a server in cluster mode, which refuses a command or a script over two slots
    with start_valkey(tmp_path / "cluster", settings={"cluster-enabled": "yes"}) as valkey:
        async with operator_at(valkey.url) as operator, room_at(valkey.url) as room:
            await order(operator, "CLUSTER ADDSLOTSRANGE", 0, 16_383)
            await eventually_takes_writes(operator)
            with pytest.raises(RedisError, match="same slot"):
                await operator.mget("a", "b")

            # when many claims and nonces are worked on
            for number, claim in enumerate(numbered(CLAIM, 50)):
                await room.leases.take(claim, "token")
                assert await room.leases.sight(claim) == RUNNING
                await room.leases.settle(claim, "token", receipt_of(claim))
                assert await room.leases.sight(claim) == Sighting(None, receipt_of(claim))
                assert await room.nonces.use("key", bytes([number])) is None

            # then none was refused
            assert room.link.health.failures == 0


async def eventually_takes_writes(operator: Redis) -> None:
    deadline = time.monotonic() + 20
    while not await takes_writes(operator):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def takes_writes(operator: Redis) -> bool:
    state = await order(operator, "CLUSTER INFO")
    return isinstance(state, dict) and state["cluster_state"] == "ok"


async def test_b13_a_key_has_its_expiry_from_its_first_moment(room: Room, operator: Redis) -> None:
    # when each kind of key is written
    await room.leases.take(CLAIM, "token")
    await room.leases.settle(replace(CLAIM, idempotency_key="key-2"), "token", receipt_of(CLAIM))
    await room.nonces.use("key", b"nonce")

    # then one command wrote it, with an expiry in milliseconds of the right size
    assert await calls_of(operator, "set") == 3
    assert await calls_of(operator, "pexpire") == await calls_of(operator, "expire") == 0
    lease = await operator.pttl(room.names.claim(CLAIM).lease)
    replay = await operator.pttl(room.names.claim(replace(CLAIM, idempotency_key="key-2")).replay)
    nonce = await operator.pttl(room.names.nonce("key", b"nonce"))
    assert LEASE_MS - 5_000 < lease <= LEASE_MS
    assert REPLAY_MS - 5_000 < replay <= REPLAY_MS
    assert 85_000 < nonce <= 90_000


@pytest.mark.parametrize("jump_ms", [3_600_000, -3_600_000])
async def test_b15_a_jump_of_our_clock_does_not_touch_a_lease(room: Room, operator: Redis, jump_ms: int) -> None:
    # given a lease
    await room.leases.take(CLAIM, "token")

    # when our wall clock jumps by an hour
    room.clock.advance(jump_ms)

    # then the lease is seen, lives as long as it did, and is given back
    assert await room.leases.sight(CLAIM) == RUNNING
    assert LEASE_MS - 5_000 < await operator.pttl(room.names.claim(CLAIM).lease) <= LEASE_MS
    await room.leases.settle(CLAIM, "token", None)
    assert await room.leases.sight(CLAIM) == NOT_SEEN
