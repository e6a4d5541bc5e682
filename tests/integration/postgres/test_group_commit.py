"""Group commit: what comes while calls are under way goes together, fairly and in bounds."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import asyncpg
import pytest

from authority.domain.plan import CommitPlan, Committed
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.postgres.committer import CommitterSettings, PostgresCommitter
from authority.postgres.connections import Database, Power
from authority.postgres.gathering import GatheringSettings
from tests.integration.postgres.superuser import Superuser, gate, trigger
from tests.world.stores import ANY_CLOCK_MS, SOURCE
from tests.world.world import World, all_are

SETTINGS = CommitterSettings(SOURCE, clock_bound_ms=ANY_CLOCK_MS)


@pytest.fixture
def databases_commit(databases: Mapping[Power, Database]) -> Database:
    return databases[Power.COMMIT]


def committer(database: Database, world: World, **changes: Any) -> PostgresCommitter:
    settings = replace(SETTINGS, gathering=GatheringSettings(**changes))
    return PostgresCommitter(database, world.authority.clock, settings)


async def plans(world: World, count: int) -> list[CommitPlan]:
    """So many plans, each good."""
    return [world.plan(await world.issued()) for _ in range(count)]


async def calls(superuser: Superuser, *worlds: World) -> int:
    """How many calls made the receipts of these tenants: each is a transaction of its own."""
    tenants = [str(world.tenant) for world in worlds]
    found = await superuser.fetchval(
        "select count(distinct xmin::text) from authority.commit_receipt where tenant = any ($1)", tenants
    )
    assert isinstance(found, int)
    return found


def soon(within_s: float = 20.0) -> float:
    return asyncio.get_running_loop().time() + within_s


async def test_what_comes_while_a_call_is_under_way_goes_together(
    world: World, superuser: Superuser, databases_commit: Database
) -> None:
    # given one call that stands still in the database
    groups = committer(databases_commit, world, calls=1)
    first, *others = await plans(world, 41)
    async with gate(superuser) as closed:
        running = [asyncio.create_task(groups.commit(first, soon()))]
        await closed.reached()
        # when forty more come
        running += [asyncio.create_task(groups.commit(plan, soon())) for plan in others]
        await asyncio.sleep(0)
        await closed.open()
        outcomes = await asyncio.gather(*running)
    # then all are committed, the forty by one call
    assert all(isinstance(outcome, Committed) and not outcome.replayed for outcome in outcomes)
    assert await calls(superuser, world) == 2
    assert await world.counts() == all_are(41)


async def test_what_comes_in_one_turn_of_the_loop_goes_together(
    world: World, superuser: Superuser, databases_commit: Database
) -> None:
    groups = committer(databases_commit, world)
    await asyncio.gather(*(groups.commit(plan, soon()) for plan in await plans(world, 30)))
    assert await calls(superuser, world) == 1


async def test_several_calls_are_under_way_at_once(
    world: World, superuser: Superuser, databases_commit: Database
) -> None:
    groups = committer(databases_commit, world, calls=2, items_per_call=1)
    async with gate(superuser) as closed:
        running = [asyncio.create_task(groups.commit(plan, soon())) for plan in await plans(world, 3)]
        await closed.reached(by=2)
        await closed.open()
        await asyncio.gather(*running)
    assert await calls(superuser, world) == 3


async def test_a_tenant_with_much_to_do_does_not_hold_up_the_others(
    world: World, superuser: Superuser, databases_commit: Database
) -> None:
    # given a call that stands still, and behind it far more of one tenant than the next call takes
    groups = committer(databases_commit, world, calls=1, items_per_call=4)
    first, *many = await plans(world, 13)
    neighbour = await world.neighbour()
    [one] = await plans(neighbour, 1)
    async with gate(superuser) as closed:
        running = [asyncio.create_task(groups.commit(first, soon()))]
        await closed.reached()
        running += [asyncio.create_task(groups.commit(plan, soon())) for plan in many]
        # when another tenant comes last
        last = asyncio.create_task(groups.commit(one, soon()))
        await asyncio.sleep(0)
        await closed.open()
        await asyncio.gather(*running, last)
    # then it went with the very next call
    order = await superuser.fetch(
        "select tenant, xmin::text::bigint as call from authority.commit_receipt where tenant = any ($1) order by call",
        [str(world.tenant), str(neighbour.tenant)],
    )
    in_turn = sorted({row["call"] for row in order})
    assert {row["tenant"] for row in order if row["call"] == in_turn[1]} == {str(world.tenant), str(neighbour.tenant)}


async def test_a_row_that_cannot_be_stored_is_set_apart_and_the_others_commit(
    world: World, superuser: Superuser, databases_commit: Database
) -> None:
    # given one row among twenty that a constraint refuses
    groups = committer(databases_commit, world)
    many = await plans(world, 20)
    poison = many[13]
    refuse = f"if new.receipt_id = '{poison.receipt_id}' then raise exception using errcode = '23514'; end if;"
    async with trigger(superuser, "commit_receipt", refuse):
        outcomes = await asyncio.gather(*(groups.commit(plan, soon()) for plan in many), return_exceptions=True)
    # then it alone is a fault, and burns nothing
    assert [isinstance(outcome, Committed) for outcome in outcomes] == [plan is not poison for plan in many]
    assert isinstance(outcomes[13], asyncpg.CheckViolationError)
    assert await world.counts() == all_are(19)
    assert isinstance(await groups.commit(poison, soon()), Committed)


async def test_what_cannot_wait_any_more_is_refused_early(
    world: World, superuser: Superuser, databases_commit: Database
) -> None:
    # given as many as may wait
    groups = committer(databases_commit, world, calls=1, most_waiting=3)
    *waiting, late = await plans(world, 4)
    async with gate(superuser) as closed:
        running = [asyncio.create_task(groups.commit(plan, soon())) for plan in waiting]
        await closed.reached()
        # then one more is refused, and may come later
        assert await groups.commit(late, soon()) == Refusal(Reason.OVERLOADED)
        await closed.open()
        await asyncio.gather(*running)
    assert isinstance(await groups.commit(late, soon()), Committed)


async def test_the_bytes_that_wait_are_bounded_too(world: World, databases_commit: Database) -> None:
    groups = committer(databases_commit, world, most_waiting_bytes=4_000)
    outcomes = await asyncio.gather(*(groups.commit(plan, soon()) for plan in await plans(world, 4)))
    assert outcomes[-1] == Refusal(Reason.OVERLOADED)
    assert isinstance(outcomes[0], Committed)


async def test_c02_callers_that_go_away_before_and_after_sending_leave_the_others_alone(
    world: World, superuser: Superuser, databases_commit: Database
) -> None:
    groups = committer(databases_commit, world, calls=1)
    sent, queued, other = await plans(world, 3)
    async with gate(superuser) as closed:
        gone = [asyncio.create_task(groups.commit(sent, soon()))]
        await closed.reached()
        gone.append(asyncio.create_task(groups.commit(queued, soon())))
        kept = asyncio.create_task(groups.commit(other, soon()))
        await asyncio.sleep(0)
        # when the callers of one that is under way and of one that waits go away
        for task in gone:
            task.cancel()
        await asyncio.gather(*gone, return_exceptions=True)
        await closed.open()
        assert isinstance(await kept, Committed)
    # then both are finished, and their retries are replays
    await groups.close()
    assert await world.counts() == all_are(3)
    again = await groups.commit(sent, soon())
    assert isinstance(again, Committed)


async def test_i17_together_the_lower_of_two_that_contend_wins(world: World, databases_commit: Database) -> None:
    # given two capabilities of one proposal, in one batch
    groups = committer(databases_commit, world)
    ground = await world.allowed()
    lower, upper = [world.plan(await world.issued_on(ground, key=key)) for key in ("lower", "upper")]
    # when they are committed together, the lower first or the upper first
    outcomes = await groups.commit_together([lower, upper], soon())
    # then the first is committed and the other told so
    assert isinstance(outcomes[0], Committed)
    assert isinstance(outcomes[1], Refusal)
    assert outcomes[1].reason is Reason.ALREADY_COMMITTED


async def test_a_locked_row_in_a_call_is_asked_again_and_the_others_do_not_wait(
    world: World, superuser: Superuser, databases_commit: Database
) -> None:
    groups = committer(databases_commit, world)
    locked, *others = await plans(world, 5)
    # given a head that somebody else has locked
    async with superuser.transaction():
        await superuser.execute(
            "select 1 from authority.proposal_head where tenant = $1 and proposal_id = $2 for update",
            str(world.tenant),
            locked.capability.terms.proposal_id,
        )
        waits = asyncio.create_task(groups.commit(locked, soon()))
        # then the others are committed meanwhile
        outcomes = await asyncio.gather(*(groups.commit(plan, soon()) for plan in others))
        assert all(isinstance(outcome, Committed) for outcome in outcomes)
        assert not waits.done()
    # and it is, once the row is free
    assert isinstance(await waits, Committed)
