"""The port `ReplayReservations`: what every store keeps to."""

import asyncio
from dataclasses import replace

import pytest

from authority.domain.reasons import Reason
from authority.domain.references import DAY, MINUTE, after
from authority.domain.refusal import Refusal
from authority.domain.replay import KEPT_MS, ReplayAnswer, ReplayOutcome, Reservation
from authority.usecases.ports import ReplayReservations
from tests.world.world import World

KEY, OTHER_KEY = b"k" * 32, b"l" * 32
ENVELOPE, OTHER_ENVELOPE = b"e" * 32, b"f" * 32
RESERVED = ReplayAnswer(ReplayOutcome.RESERVED)
AGAIN = ReplayAnswer(ReplayOutcome.RESERVED, replayed=True)
REPLAY = ReplayAnswer(ReplayOutcome.REPLAY)
CONFLICT = ReplayAnswer(ReplayOutcome.CONFLICT)


@pytest.fixture
def replays(world: World) -> ReplayReservations:
    return world.authority.store.replays


def wanted(world: World, request_id: str, key: bytes = KEY, envelope: bytes = ENVELOPE) -> Reservation:
    """What the service asks for by a request of this id, whose digest is of all that it says."""
    return Reservation(
        tenant=world.tenant,
        replay_key=key,
        envelope_digest=envelope,
        reserved_by=world.service.ref,
        request_id=request_id,
        request_digest=bytes(a ^ b for a, b in zip(key, envelope, strict=True)),
        reserve_time=world.now(),
        expire_time=after(world.now(), 5 * MINUTE),
    )


async def test_an_envelope_passes_once(world: World, replays: ReplayReservations) -> None:
    now = world.now()
    assert await replays.reserve(wanted(world, "r1"), now) == RESERVED
    assert await replays.reserve(wanted(world, "r2"), now) == REPLAY
    assert await replays.reserve(wanted(world, "r3", envelope=OTHER_ENVELOPE), now) == CONFLICT
    assert await replays.reserve(wanted(world, "r4", key=OTHER_KEY), now) == RESERVED


async def test_a_lost_answer_is_no_replay(world: World, replays: ReplayReservations) -> None:
    # given a reservation whose answer was lost, and others that came meanwhile
    now, first = world.now(), wanted(world, "r1")
    await replays.reserve(first, now)
    assert await replays.reserve(wanted(world, "r2"), now) == REPLAY
    # when the same request is made again, however often, then its first answer is told; and not to another's request
    world.authority.clock.advance(MINUTE)
    for _ in range(2):
        assert await replays.reserve(replace(first, reserve_time=world.now()), world.now()) == AGAIN
    other = await world.register(world.service.principal.kind, "other")
    assert await replays.reserve(replace(first, reserved_by=other.ref), world.now()) == REPLAY


async def test_a_request_id_reserves_one_thing(world: World, replays: ReplayReservations) -> None:
    now, conflict = world.now(), Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"})
    await replays.reserve(wanted(world, "r1"), now)
    assert await replays.reserve(wanted(world, "r1", key=OTHER_KEY), now) == conflict
    assert await replays.reserve(wanted(world, "r1", envelope=OTHER_ENVELOPE), now) == conflict
    # and nothing was reserved by it, nor is the id used up of what reserved nothing
    assert await replays.reserve(wanted(world, "r2"), now) == REPLAY
    assert await replays.reserve(wanted(world, "r2", key=OTHER_KEY), now) == RESERVED


async def test_g02_another_tenants_reservations_do_not_matter(world: World, replays: ReplayReservations) -> None:
    neighbour = await world.neighbour()
    await replays.reserve(wanted(neighbour, "r1", envelope=OTHER_ENVELOPE), world.now())
    assert await replays.reserve(wanted(world, "r1"), world.now()) == RESERVED


async def test_i04_of_a_hundred_that_reserve_at_once_one_does(world: World, replays: ReplayReservations) -> None:
    # given a hundred requests for one key, every second of them for another envelope
    asked = [
        replays.reserve(wanted(world, f"r{n}", envelope=(ENVELOPE, OTHER_ENVELOPE)[n % 2]), world.now())
        for n in range(100)
    ]
    answers = await asyncio.gather(*asked)
    # then one reserves it, those of the same envelope are replays, and the others conflicts
    told = [answers.count(it) for it in (RESERVED, REPLAY, CONFLICT)]
    assert told == [1, 49, 50]


async def test_i04_of_a_hundred_retries_at_once_each_is_told_the_same(
    world: World, replays: ReplayReservations
) -> None:
    first = wanted(world, "r1")
    answers = await asyncio.gather(*(replays.reserve(first, world.now()) for _ in range(100)))
    assert (answers.count(RESERVED), answers.count(AGAIN)) == (1, 99)


async def test_what_is_reserved_outlives_its_envelope(world: World, replays: ReplayReservations) -> None:
    # given a reservation, and others that come until the last moment for which it is kept
    await replays.reserve(wanted(world, "r1"), world.now())
    world.authority.clock.advance(5 * MINUTE + KEPT_MS)
    for number in range(3):
        await replays.reserve(wanted(world, f"s{number}", key=bytes([number]) * 32), world.now())
    assert await replays.reserve(wanted(world, "r2"), world.now()) == REPLAY
    # when something comes much later, then it is forgotten
    world.authority.clock.advance(DAY)
    await replays.reserve(wanted(world, "t", key=OTHER_KEY), world.now())
    assert await replays.reserve(wanted(world, "r3", envelope=OTHER_ENVELOPE), world.now()) == RESERVED
