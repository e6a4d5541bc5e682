"""Each caller gets its own reply, whoever was cancelled and whatever was lost on the way (cases B01, B02)."""

import asyncio

from redis.asyncio import Redis

from authority.embedded import ValkeyServer
from authority.usecases.ports import Sighting
from tests.faults.redis_link.scene import (
    NOT_SEEN,
    RUNNING,
    calls_of,
)
from tests.redis_room import (
    CLAIM,
    LEASE_TAKEN,
    Forwarder,
    Room,
    numbered,
    receipt_of,
    room_at,
)


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
        network.loses_reply_to = LEASE_TAKEN
        await room.leases.take(CLAIM, "token")
        assert room.link.health.reason == "ConnectionError"

        # then the command was sent once, not again by the library
        assert await calls_of(operator, "set") == 1

        # and the lease is seen, and given back by its owner at once
        await room.recovers()
        assert await room.leases.sight(CLAIM) == RUNNING
        await room.leases.settle(CLAIM, "token", None)
        assert await room.leases.sight(CLAIM) == NOT_SEEN
