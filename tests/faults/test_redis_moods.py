"""Redis in its moods, each on a real server: commits are never hindered, reads never let through, nobody waits long."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError
from structlog.testing import capture_logs

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.embedded import ValkeyServer, start_valkey
from authority.redis.connection import connect
from authority.redis.link import LinkSettings
from authority.usecases.ports import Sighting
from tests.redis_room import (
    CLAIM,
    LEASE_MS,
    REPLAY_MS,
    Forwarder,
    Room,
    eventually,
    numbered,
    operator_at,
    receipt_of,
    room_at,
)

NOT_SEEN = Sighting(running_fingerprint=None, settled=None)
RUNNING = Sighting(CLAIM.fingerprint, None)
UNAVAILABLE = Refusal(Reason.DEPENDENCY_UNAVAILABLE)
HASTY = LinkSettings(wait_ms=200)
A_SMALL_PART_OF_A_DEADLINE_S = 1.0
"""Two waits of a hasty link, and what a busy machine adds."""


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[ValkeyServer]:
    with start_valkey(tmp_path / "data") as server:
        yield server


@pytest.fixture
async def room(valkey: ValkeyServer) -> AsyncIterator[Room]:
    async with room_at(valkey.url) as room:
        yield room


@pytest.fixture
async def hasty_room(valkey: ValkeyServer) -> AsyncIterator[Room]:
    """For a server that will hang."""
    async with room_at(valkey.url, settings=HASTY) as room:
        yield room


@pytest.fixture
async def operator(valkey: ValkeyServer) -> AsyncIterator[Redis]:
    async with operator_at(valkey.url) as client:
        yield client


async def order(operator: Redis, *command: str | int) -> object:
    """The reply to a command that the client has no method for."""
    return await operator.execute_command(*command)  # type: ignore[no-untyped-call]


async def calls_of(operator: Redis, command: str) -> int:
    """How often the server executed the command, in scripts too."""
    facts = await operator.info("commandstats")
    return int(facts.get(f"cmdstat_{command}", {}).get("calls", 0))


# --- one reply for one caller ----------------------------------------------------------------------------------------


async def test_b01_a_cancelled_caller_leaves_no_reply_to_the_next(room: Room) -> None:
    # given two hundred settled claims, and a caller for each
    claims = numbered(CLAIM, 200)
    await asyncio.gather(*(room.leases.settle(claim, "token", receipt_of(claim)) for claim in claims))
    for turns in range(8):
        callers = [asyncio.create_task(room.leases.sight(claim)) for claim in claims]

        # when every third is cancelled, at another point of its road each round
        for _ in range(turns):
            await asyncio.sleep(0)
        for caller in callers[::3]:
            caller.cancel()
        answers = await asyncio.gather(*callers, return_exceptions=True)

        # then each of the others gets its own receipt
        for number, (claim, answer) in enumerate(zip(claims, answers, strict=True)):
            if number % 3 == 0:
                assert isinstance(answer, asyncio.CancelledError) or answer == Sighting(None, receipt_of(claim))
            else:
                assert answer == Sighting(None, receipt_of(claim))
    assert room.link.health.failures == 0


async def test_b01_a_late_reply_is_nobodys(valkey: ValkeyServer, hasty_room: Room) -> None:
    # given settled claims, and a server that hangs after it was asked for the first
    first, *others = numbered(CLAIM, 20)
    await asyncio.gather(*(hasty_room.leases.settle(claim, "token", receipt_of(claim)) for claim in (first, *others)))
    valkey.pause()
    assert await hasty_room.leases.sight(first) == NOT_SEEN

    # when it goes on, and answers what it was asked before
    valkey.resume()
    await hasty_room.recovers()

    # then every later caller gets its own answer
    for claim in others:
        assert await hasty_room.leases.sight(claim) == Sighting(None, receipt_of(claim))


async def test_b01_the_client_itself_gives_no_command_the_reply_of_a_cancelled_one(operator: Redis) -> None:
    # given two values
    await operator.mset({"foo": "A", "bar": "B"})
    for turns in range(30):
        # when a command is cancelled somewhere between its sending and its reply
        cancelled = asyncio.ensure_future(operator.get("foo"))
        for _ in range(turns):
            await asyncio.sleep(0)
        cancelled.cancel()
        await asyncio.wait({cancelled})

        # then the next gets its own reply
        assert await operator.get("bar") == b"B"


async def test_a_cancelled_caller_is_told_so(valkey: ValkeyServer, hasty_room: Room) -> None:
    # given callers of a server that hangs
    valkey.pause()
    callers = [
        asyncio.create_task(hasty_room.leases.sight(CLAIM)),
        asyncio.create_task(hasty_room.leases.take(CLAIM, "token")),
        asyncio.create_task(hasty_room.leases.settle(CLAIM, "token", None)),
        asyncio.create_task(hasty_room.nonces.use("key", b"nonce")),
    ]
    await asyncio.sleep(0)

    # when they are cancelled, then that is what they see
    for caller in callers:
        caller.cancel()
    answers = await asyncio.gather(*callers, return_exceptions=True)
    assert [type(answer) for answer in answers] == [asyncio.CancelledError] * 4


async def test_b02_a_lease_whose_reply_was_lost_is_ours(valkey: ValkeyServer, operator: Redis) -> None:
    # given a network that loses the reply to a command that the server executed
    async with Forwarder(valkey.url) as network, room_at(network.url) as room:
        assert await room.leases.sight(CLAIM) == NOT_SEEN
        network.loses_next_reply = True
        await room.leases.take(CLAIM, "token")
        assert room.link.health.reason == "ConnectionError"

        # then the command was sent once, not again by the library
        assert await calls_of(operator, "set") == 1

        # and the lease is seen, and given back by its owner at once
        await room.recovers()
        assert await room.leases.sight(CLAIM) == RUNNING
        await room.leases.settle(CLAIM, "token", None)
        assert await room.leases.sight(CLAIM) == NOT_SEEN


# --- what Redis loses -------------------------------------------------------------------------------------------------


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


async def test_a17_another_timeline_of_the_database_does_not_meet_the_cache_of_the_old_one(
    valkey: ValkeyServer,
) -> None:
    # given a receipt cached for one timeline of a database
    async with room_at(valkey.url, generation="7301.1") as before:
        await before.leases.settle(CLAIM, "token", receipt_of(CLAIM))
        assert await before.leases.sight(CLAIM) == Sighting(None, receipt_of(CLAIM))

    # when the database is restored to an earlier time, then what it forgot is not seen
    async with room_at(valkey.url, generation="7301.2") as restored:
        assert await restored.leases.sight(CLAIM) == NOT_SEEN


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


# --- keys and expiries ------------------------------------------------------------------------------------------------


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


# --- Redis away -------------------------------------------------------------------------------------------------------


async def expect_everything_not_seen(room: Room) -> None:
    assert await room.leases.sight(CLAIM) == NOT_SEEN
    await room.leases.take(CLAIM, "token")
    await room.leases.settle(CLAIM, "token", receipt_of(CLAIM))
    assert await room.nonces.use("key", b"nonce") == UNAVAILABLE


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
    async with room_at(valkey.url, settings=LinkSettings(wait_ms=200, recover_ms=100)) as room:
        valkey.pause()
        await room.leases.sight(CLAIM)
        room.gate.open()

        # when it has been tried again at least twice, then no call had a part in it or waited for it
        await eventually(lambda: room.link.health.failures >= 3)
        began = time.monotonic()
        assert await room.nonces.use("key", b"nonce") == UNAVAILABLE
        assert time.monotonic() - began < A_SMALL_PART_OF_A_DEADLINE_S / 10

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


async def test_a_stall_of_our_own_loop_is_not_taken_for_a_hang_of_redis(valkey: ValkeyServer) -> None:
    # given a settled claim, and a link that waits for 20 ms
    async with room_at(valkey.url, settings=LinkSettings(wait_ms=20)) as room:
        await room.leases.settle(CLAIM, "token", receipt_of(CLAIM))
        for turns in range(12):
            # when our loop stands still for longer than that, at another point of the call's road each time
            caller = asyncio.create_task(room.leases.sight(CLAIM))
            for _ in range(turns):
                await asyncio.sleep(0)
            stand_still(0.04)

            # then the reply, which came meanwhile, is read
            assert await caller == Sighting(None, receipt_of(CLAIM))
        assert room.link.health.failures == 0


async def test_a_loop_that_is_busy_all_the_time_is_not_taken_for_a_hang_of_redis(valkey: ValkeyServer) -> None:
    # given a settled claim, and work of our own in every turn of the loop, for longer than the link waits
    async with room_at(valkey.url, generation="g") as room:
        await room.leases.settle(CLAIM, "token", receipt_of(CLAIM))
    async with room_at(valkey.url, settings=LinkSettings(wait_ms=20), generation="g") as room:
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


def stand_still(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


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


# --- Redis there, but unwilling ---------------------------------------------------------------------------------------


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


# --- what is told of it -----------------------------------------------------------------------------------------------


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
        {"event": "redis_back", "log_level": "info"},
    ]


async def test_the_client_repeats_nothing_by_itself(valkey: ValkeyServer, operator: Redis) -> None:
    # given a network that loses one reply
    async with Forwarder(valkey.url) as network:
        client = connect(network.url)
        await client.ping()
        network.loses_next_reply = True

        # when a command's reply is lost, then the client says so and the server executed it once (case B02)
        with pytest.raises(RedisError):
            await client.set("key", "value", nx=True, px=1_000)
        assert await calls_of(operator, "set") == 1
        await client.aclose()
