"""What Redis loses or others put in its place is not seen, and hinders nothing (cases A17, B04, B11)."""

import pytest
from redis.asyncio import Redis

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.embedded import ValkeyServer
from authority.usecases.ports import DatabaseGeneration, Sighting
from tests.faults.redis_link.scene import (
    NOT_SEEN,
    RUNNING,
)
from tests.redis_room import (
    CLAIM,
    Room,
    receipt_of,
    room_at,
)


async def test_b04_after_a_flush_nothing_is_seen_and_nothing_hindered(room: Room, operator: Redis) -> None:
    # given a receipt and a lease
    await room.leases.settle(CLAIM, "token", receipt_of(CLAIM))
    await room.leases.take(CLAIM, "token")

    # when everything is flushed between consumption and replay
    await operator.flushall()

    # then it is not seen, which sends the caller to the database, and the receipt is cached anew
    assert await room.leases.sight(CLAIM) == NOT_SEEN
    await room.leases.settle(CLAIM, "token", receipt_of(CLAIM))
    assert await room.leases.sight(CLAIM) == Sighting(None, receipt_of(CLAIM))
    assert room.link.health.failures == 0


async def test_a17_a_database_that_takes_the_place_of_another_does_not_meet_its_cache(
    valkey: ValkeyServer,
) -> None:
    # given a receipt cached and a lease taken under one incarnation of a database, and a proof of a read used
    async with room_at(valkey.url, generation=DatabaseGeneration("7301", "1")) as room:
        await room.leases.settle(CLAIM, "token", receipt_of(CLAIM))
        await room.leases.take(CLAIM, "token")
        assert await room.leases.sight(CLAIM) == Sighting(CLAIM.fingerprint, receipt_of(CLAIM))
        assert await room.nonces.use("key", b"nonce") is None

        # when the database is restored to an earlier time under a process that lives on
        room.names.follow(DatabaseGeneration("7301", "2"))

        # then what it forgot is not seen
        assert await room.leases.sight(CLAIM) == NOT_SEEN

        # and the proof that was used stays used, for whoever met the database before or after
        assert await room.nonces.use("key", b"nonce") == Refusal(Reason.PROOF_REPLAYED)
        async with room_at(valkey.url, generation=DatabaseGeneration("7301", "1")) as elsewhere:
            assert await elsewhere.nonces.use("key", b"nonce") == Refusal(Reason.PROOF_REPLAYED)


@pytest.mark.parametrize("damage", ["cut short", "prolonged", "emptied", "of another version", "not text"])
async def test_a_cached_receipt_that_is_damaged_is_not_seen(room: Room, operator: Redis, damage: str) -> None:
    # given a cached receipt, damaged in place
    await room.leases.settle(CLAIM, "token", receipt_of(CLAIM))
    key = room.names.claim(CLAIM).replay
    entry = await operator.get(key)
    assert isinstance(entry, bytes)
    damaged = {
        "cut short": entry[:-1],
        "prolonged": entry + b"\x00",
        "emptied": b"",
        "of another version": b"R9" + entry[2:],
        "not text": entry.replace(b"receipt of", b"\xffeceipt of"),
    }
    await operator.set(key, damaged[damage])

    # then it is not seen
    assert await room.leases.sight(CLAIM) == NOT_SEEN


async def test_values_of_another_type_at_our_keys_are_not_seen_and_hinder_nothing(room: Room, operator: Redis) -> None:
    # given foreign values where a lease and a receipt would be
    keys = room.names.claim(CLAIM)
    await operator.hset(keys.lease, "field", "value")
    await operator.hset(keys.replay, "field", "value")

    # when the claim is worked on, then they are not seen, and its receipt is cached
    assert await room.leases.sight(CLAIM) == NOT_SEEN
    await room.leases.take(CLAIM, "token")
    await room.leases.settle(CLAIM, "token", receipt_of(CLAIM))
    assert await room.leases.sight(CLAIM) == Sighting(None, receipt_of(CLAIM))
    assert room.link.health.failures == 0


async def test_b11_flushed_scripts_do_not_hold_up_a_release(room: Room, operator: Redis) -> None:
    # given a process that has settled before
    await room.leases.take(CLAIM, "token")
    await room.leases.settle(CLAIM, "token", None)
    await room.leases.take(CLAIM, "token")

    # when the server forgets all scripts
    await operator.script_flush()

    # then the lease is given back at once
    await room.leases.settle(CLAIM, "token", receipt_of(CLAIM))
    assert await room.leases.sight(CLAIM) == Sighting(None, receipt_of(CLAIM))
    assert room.link.health.failures == 0


async def test_b11_a_restart_between_does_not_hold_up_a_release(valkey: ValkeyServer, room: Room) -> None:
    # given a process that has settled before, and holds a lease
    await room.leases.settle(CLAIM, "token", None)
    await room.leases.take(CLAIM, "token")

    # when the server is restarted, with its data, then the lease is given back at once
    valkey.restart()
    assert await room.leases.sight(CLAIM) == RUNNING
    await room.leases.settle(CLAIM, "token", None)
    assert await room.leases.sight(CLAIM) == NOT_SEEN
    assert room.link.health.failures == 0
