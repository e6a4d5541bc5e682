"""A commit never waits inside the database for a row: it asks again until its caller's time is over."""

import asyncio
import datetime as dt
from collections.abc import Sequence

import pytest

from authority.domain.plan import Committed, Conflicting
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from tests.integration.postgres.superuser import Superuser, gate, until
from tests.world.world import World, all_are, must, reason_of

ROWS = {
    "proposal head": "select 1 from authority.proposal_head where proposal_id = $1 for update",
    "capability": "select 1 from authority.capability where proposal_id = $1 for update",
}


@pytest.mark.parametrize("statement", ROWS.values(), ids=ROWS)
async def test_a_locked_row_is_waited_for_as_long_as_the_caller_waits(
    world: World, superuser: Superuser, statement: str
) -> None:
    # given a row that another transaction has locked
    issued = await world.issued()
    transaction = superuser.transaction()
    await transaction.start()
    await superuser.execute(statement, issued.ground.revision.proposal_id)

    # when a commit comes that waits shortly, then it is told that it runs, and nothing is burned
    assert await world.carry_out(world.plan(issued), within_s=0.3) == Refusal(Reason.IN_PROGRESS)
    assert await world.counts() == all_are(0)

    # when one waits longer, then it succeeds as soon as the row is free
    now = await superuser.fetchval("select clock_timestamp()")
    task = asyncio.create_task(world.carry_out(world.plan(issued)))
    await until(lambda: was_asked_since(superuser, now))
    assert not task.done()
    await transaction.rollback()
    assert isinstance(await task, Committed)
    assert await world.counts() == all_are(1)


async def was_asked_since(superuser: Superuser, moment: dt.datetime) -> bool:
    """Whether a commit call that began later has come to an end."""
    await superuser.execute("select pg_stat_clear_snapshot()")
    return bool(
        await superuser.fetchval(
            """
            select exists (
              select 1 from pg_stat_activity
              where datname = current_database() and application_name = 'authority_commit' and state = 'idle'
                and query_start > $1 and query like '%authority.commit(%')
            """,
            moment,
        )
    )


async def test_a_replay_needs_no_lock(world: World, superuser: Superuser) -> None:
    # given a settled claim whose rows are locked, then its retry is answered all the same
    issued, answer = await world.committed()
    async with superuser.transaction():
        for statement in ROWS.values():
            await superuser.execute(statement, issued.ground.revision.proposal_id)
        assert must(await world.commit(issued, within_s=0.3)).receipt == answer.receipt


async def test_of_a_key_at_most_sixteen_wait(world: World, superuser: Superuser) -> None:
    # given a commit in the middle of its writing
    issued = await world.issued()
    async with gate(superuser) as closed:
        first = asyncio.create_task(world.carry_out(world.plan(issued)))
        await closed.reached()

        # when twenty more callers of its key come, then fifteen wait with it, and the next ones are told that it runs
        others = [asyncio.create_task(world.carry_out(world.plan(issued))) for _ in range(20)]
        await until(lambda: at_least(others, 5))
        told = [task.result() for task in others if task.done()]
        assert told == [Refusal(Reason.IN_PROGRESS)] * 5
        await closed.open()
        outcomes = await asyncio.gather(first, *others)

    # and those who waited have the receipt
    assert [reason_of(outcome) for outcome in outcomes].count(None) == 16
    assert await world.counts() == all_are(1)


async def at_least(tasks: Sequence[asyncio.Task[object]], number: int) -> bool:
    """Whether so many are done."""
    await asyncio.sleep(0)
    return sum(task.done() for task in tasks) >= number


async def test_one_key_for_two_proposals_at_once_is_one_commit_and_one_conflict(
    world: World, superuser: Superuser
) -> None:
    # given two requests under one key, signed by a service that issued the second despite the first
    first = await world.issued(key="k")
    other = await world.issued()
    async with gate(superuser) as closed:
        plans = (world.plan(first), world.plan(other, commit_idempotency_key="k"))
        tasks = []
        for number, plan in enumerate(plans, start=1):
            # One after the other, so that each is in a call of its own.
            tasks.append(asyncio.create_task(world.carry_out(plan)))
            await closed.reached(by=number)
        await closed.open()
        outcomes = await asyncio.gather(*tasks)

    # then the receipt is the claim: whichever comes first is committed, and the other finds it in its way
    (committed,) = [outcome for outcome in outcomes if isinstance(outcome, Committed)]
    assert Conflicting(committed.receipt) in outcomes
    assert await world.counts() == all_are(1)
