"""What passed is forgotten once nobody can accept it, a part at a time; who dies amid it has reserved nothing."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from authority.domain.references import MINUTE, Instant, after
from authority.domain.replay import ReplayAnswer, ReplayOutcome, Reservation
from authority.postgres.connections import Database, Power
from authority.postgres.replay_reservations import PostgresReplayReservations
from tests.integration.postgres.superuser import Superuser, gate
from tests.integration.postgres.test_rights import acting_as
from tests.world.stores import ANY_CLOCK_MS
from tests.world.world import World

RESERVED = ReplayAnswer(ReplayOutcome.RESERVED)


def wanted(world: World, number: int) -> Reservation:
    """One of many."""
    return Reservation(
        tenant=world.tenant,
        replay_key=number.to_bytes(32, "big"),
        envelope_digest=bytes(32),
        reserved_by=world.service.ref,
        request_id=f"r{number}",
        request_digest=number.to_bytes(32, "big"),
        reserve_time=world.now(),
        expire_time=after(world.now(), MINUTE),
    )


async def left(superuser: Superuser, world: World) -> int:
    """How many of the tenant's are kept."""
    query = "select count(*) from authority.replay_reservation where tenant = $1"
    count = await superuser.fetchval(query, str(world.tenant))
    assert isinstance(count, int)
    return count


async def test_what_is_over_is_forgotten_some_at_a_time_by_what_comes(world: World, superuser: Superuser) -> None:
    # given many reservations, all of the past to the database
    replays = world.authority.store.replays
    for number in range(230):
        assert await replays.reserve(wanted(world, number), world.now()) == RESERVED
    world.authority.clock.advance(60 * MINUTE)
    # when others come, then each takes a hundred of them away
    kept = []
    for number in range(230, 233):
        await replays.reserve(wanted(world, number), world.now())
        kept.append(await left(superuser, world))
    assert kept == [131, 32, 3]


async def test_no_right_lets_a_reservation_be_forgotten_while_its_envelope_may_be_accepted(
    world: World, superuser: Superuser
) -> None:
    await world.authority.store.replays.reserve(wanted(world, 1), world.now())
    for over_for, deleted in (("-1 minute", "DELETE 0"), ("9 minutes", "DELETE 0"), ("11 minutes", "DELETE 1")):
        await superuser.execute(
            "update authority.replay_reservation set expire_time = now() - $2::text::interval where tenant = $1",
            str(world.tenant),
            over_for,
        )
        async with acting_as(superuser, "authority_issue"), superuser.transaction():
            await superuser.execute("select set_config('authority.tenants', $1, true)", str(world.tenant))
            forget = "delete from authority.replay_reservation where tenant = $1"
            assert await superuser.execute(forget, str(world.tenant)) == deleted


async def test_c15_a_clock_that_is_off_reserves_nothing(
    world: World, superuser: Superuser, databases: Mapping[Power, Database]
) -> None:
    # given a service that judges by another century's clock, and a bound of ten minutes
    strict = PostgresReplayReservations(databases[Power.ISSUE], clock_bound_ms=10 * MINUTE)
    answer = await asyncio.gather(strict.reserve(wanted(world, 1), world.now()), return_exceptions=True)
    assert [type(it).__name__ for it in answer] == ["ClockOff"]
    assert await left(superuser, world) == 0
    # then one whose clock is right reserves
    now = Instant(int(await superuser.fetchval("select extract(epoch from clock_timestamp()) * 1000")))
    right = replace(wanted(world, 1), reserve_time=now, expire_time=after(now, MINUTE))
    assert await strict.reserve(right, now) == RESERVED


async def test_c02_who_goes_away_inside_a_reservation_has_reserved_nothing(
    world: World, superuser: Superuser, databases: Mapping[Power, Database]
) -> None:
    # given one that is in the middle of reserving, and a second that waits for it, for the same envelope
    replays = PostgresReplayReservations(databases[Power.ISSUE], ANY_CLOCK_MS)
    async with gate(superuser, "replay_reservation") as closed:
        first = asyncio.create_task(replays.reserve(wanted(world, 1), world.now()))
        await closed.reached()
        second = asyncio.create_task(replays.reserve(replace(wanted(world, 1), request_id="other"), world.now()))
        await closed.reached(by=2)
        # when the first goes away, or its process is killed
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        assert not second.done()
        await closed.open()
        # then the second reserves it
        assert await second == RESERVED
    # and the first, should it come again, is told so
    assert await replays.reserve(wanted(world, 1), world.now()) == ReplayAnswer(ReplayOutcome.REPLAY)


async def test_c01_an_answer_lost_after_the_commit_is_found_by_the_same_request(
    world: World, databases: Mapping[Power, Database]
) -> None:
    # given a reservation that was durable when its process died; a new process knows nothing of it
    await world.authority.store.replays.reserve(wanted(world, 1), world.now())
    after_restart = PostgresReplayReservations(databases[Power.ISSUE], ANY_CLOCK_MS)
    again = await after_restart.reserve(wanted(world, 1), world.now())
    assert again == ReplayAnswer(ReplayOutcome.RESERVED, replayed=True)
