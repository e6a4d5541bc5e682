"""Redis there, but read-only, full or without its replicas (cases B07, B08)."""

from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from redis.asyncio import Redis

from authority.embedded import ValkeyServer, start_valkey
from authority.usecases.ports import Sighting
from tests.faults.redis_link.scene import (
    NOT_SEEN,
    RUNNING,
    UNAVAILABLE,
    expect_everything_not_seen,
    order,
)
from tests.redis_room import (
    CLAIM,
    Forwarder,
    Room,
    eventually,
    operator_at,
    receipt_of,
    room_at,
)


async def test_b07_after_a_failover_the_old_master_is_left_and_the_new_one_met(
    tmp_path: Path, valkey: ValkeyServer, operator: Redis
) -> None:
    # given a link to a master, by an address that follows the failover
    with start_valkey(tmp_path / "second") as second:
        async with operator_at(second.url) as new_master:
            await new_master.config_set("requirepass", password_in(valkey.url))
        async with Forwarder(valkey.url) as address, room_at(address.url) as room:
            await room.leases.take(CLAIM, "token")
            assert await room.leases.sight(CLAIM) == RUNNING
            assert address.open_connections == 1

            # when that master is demoted, its connections left open
            await order(operator, "REPLICAOF", "127.0.0.1", second.port)
            # then a read by Invocation is refused, and a commit goes on
            assert await room.nonces.use("key", b"nonce") == UNAVAILABLE
            assert room.link.health.reason == "ReadOnlyError"
            await room.leases.take(CLAIM, "token")

            # and that connection is dropped
            await eventually(lambda: address.open_connections == 0)

            # and when the address leads to the new master, calls reach it
            address.server_url = second.url
            await room.recovers()
            await room.leases.take(CLAIM, "token")
            assert await room.leases.sight(CLAIM) == RUNNING
            assert await room.nonces.use("key", b"nonce") is None


def password_in(url: str) -> str:
    password = urlsplit(url).password
    assert password
    return password


async def test_b07_a_master_demoted_for_a_while_is_used_again(room: Room, operator: Redis) -> None:
    # given a server that became a replica of a host that is not there
    await order(operator, "REPLICAOF", "127.0.0.1", 1)
    await expect_everything_not_seen(room)

    # when it is tried again it still only lets itself be read, and is left alone
    room.gate.open()
    await eventually(lambda: room.link.health.failures >= 3)
    assert not room.link.health.available

    # and when it is a master again, then it is used
    await order(operator, "REPLICAOF", "NO", "ONE")
    await eventually(lambda: room.link.health.available)
    assert await room.nonces.use("key", b"nonce") is None


async def test_b08_a_full_server_refuses_reads_and_hinders_no_commit(room: Room, operator: Redis) -> None:
    # given a lease, and a server whose memory is full
    await room.leases.take(CLAIM, "token")
    await operator.config_set("maxmemory", 1)

    # when the commit settles, then the lease is given back
    await room.leases.settle(CLAIM, "token", receipt_of(CLAIM))
    assert await operator.exists(room.names.claim(CLAIM).lease) == 0

    # when another one takes a lease, then it finds no room, goes on without, and a read is not let through
    other = replace(CLAIM, idempotency_key="key-2")
    await room.leases.take(other, "token")
    assert room.link.health.reason == "OutOfMemoryError"
    assert await room.leases.sight(other) == NOT_SEEN
    await room.leases.settle(other, "token", receipt_of(other))
    assert await room.nonces.use("key", b"nonce") == UNAVAILABLE

    # and when there is room again, then it is used
    await operator.config_set("maxmemory", 0)
    await room.recovers()
    assert await room.nonces.use("key", b"nonce") is None


async def test_b08_a_nonce_that_finds_no_room_is_not_let_through(room: Room, operator: Redis) -> None:
    # given a server whose memory is full, when a nonce is used, then it is not known whether it is the first use
    await operator.config_set("maxmemory", 1)
    assert await room.nonces.use("key", b"nonce") == UNAVAILABLE
    assert room.link.health.reason == "OutOfMemoryError"


async def test_b08_the_replay_cache_leaves_room_for_nonces(room: Room, operator: Redis) -> None:
    # given a server whose memory is used for the most part
    await room.leases.settle(CLAIM, "token", receipt_of(CLAIM))
    used = int((await operator.info("memory"))["used_memory"])
    await operator.config_set("maxmemory", used * 5 // 4)
    await look_at_the_memory(room)

    # when commits settle, then their leases are given back, their receipts not cached
    other = replace(CLAIM, idempotency_key="key-2")
    await room.leases.take(other, "token")
    await room.leases.settle(other, "token", receipt_of(other))
    assert await room.leases.sight(other) == NOT_SEEN

    # so that nonces find room, and what was cached before is still seen
    assert await room.nonces.use("key", b"nonce") is None
    assert await room.leases.sight(CLAIM) == Sighting(None, receipt_of(CLAIM))

    # and when there is more memory, then receipts are cached again
    await operator.config_set("maxmemory", used * 4)
    await look_at_the_memory(room)
    await room.leases.settle(other, "token", receipt_of(other))
    assert await room.leases.sight(other) == Sighting(None, receipt_of(other))
    assert room.link.health.failures == 0


async def look_at_the_memory(room: Room) -> None:
    """Lets a commit settle when a look is due; the one after it goes by what was seen."""
    room.clock.advance(1_000)
    due = replace(CLAIM, idempotency_key="key-0")
    await room.leases.settle(due, "token", receipt_of(due))
    await room.leases.sight(due)


async def test_a_server_that_misses_its_replicas_is_redis_away(room: Room, operator: Redis) -> None:
    # given a server that takes no writes for lack of replicas
    await operator.config_set("min-replicas-to-write", 1)
    assert await room.nonces.use("key", b"nonce") == UNAVAILABLE
    assert room.link.health.reason == "NOREPLICAS"

    # when it needs none, then it is used again
    await operator.config_set("min-replicas-to-write", 0)
    await room.recovers()
    assert await room.nonces.use("key", b"nonce") is None
