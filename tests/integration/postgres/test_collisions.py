"""Transactions that meet: nothing affected is no success, and a collision is neither a conflict nor the end."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from authority.domain.plan import CommitPlan, Committed, Conflicting
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.postgres.committer import CommitterSettings, PostgresCommitter
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.postgres.plan_rows import plan_row
from authority.postgres.sql import query
from tests.integration.postgres.superuser import Superuser, gate, until
from tests.world.stores import ANY_CLOCK_MS, SOURCE
from tests.world.world import World, all_are


async def test_a03_of_two_transactions_that_consume_one_capability_the_second_is_refused(
    world: World, superuser: Superuser
) -> None:
    # given a commit in the middle of its writing
    issued = await world.issued()
    async with gate(superuser) as closed:
        first = asyncio.create_task(world.carry_out(world.plan(issued)))
        await closed.reached()

        # when another one comes for the same capability, under a key that a careless service let through
        second = asyncio.create_task(world.carry_out(world.plan(issued, commit_idempotency_key="another")))
        await closed.open()
        outcomes = await asyncio.gather(first, second)

    # then it is refused, and has left nothing
    assert isinstance(outcomes[0], Committed)
    assert outcomes[1] == Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": outcomes[0].receipt.receipt_id})
    assert await world.counts() == all_are(1)


@pytest.mark.parametrize("isolation", ["read committed", "repeatable read", "serializable"])
async def test_c09_a_claim_made_after_the_snapshot_began_is_found_by_asking_again(
    world: World, databases: Mapping[Power, Database], module_database: str, superuser: Superuser, isolation: str
) -> None:
    # given a claim that is not durable yet, and another request under its key, in another snapshot
    claim = world.plan(await world.issued(), commit_idempotency_key="k")
    other = world.plan(await world.issued(), commit_idempotency_key="k")
    async with isolated(module_database, isolation) as database:
        committer = PostgresCommitter(database, world.authority.clock, CommitterSettings(SOURCE, ANY_CLOCK_MS))
        deadline = asyncio.get_running_loop().time() + 20
        with capture_logs() as logs:
            async with claimed(databases, world, claim):
                task = asyncio.create_task(committer.commit(other, deadline))
                await until(lambda: waits_for_a_transaction(superuser))
            outcome = await task

    # then it is a conflict with what is durable now; a collision on the way is told in the log, and to nobody else
    assert isinstance(outcome, Conflicting)
    assert outcome.receipt.statement == claim.receipt
    collided = [entry["why"] for entry in logs if entry["event"] == "commit asked again"]
    assert collided == ([] if isolation == "read committed" else ["COLLIDED"])
    assert await world.counts() == all_are(1)


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
async def test_c09_a_batch_of_which_one_item_collides_is_asked_again_whole_and_each_has_its_own_outcome(
    world: World, databases: Mapping[Power, Database], module_database: str, superuser: Superuser, isolation: str
) -> None:
    # given a claim that is not durable yet, and in another snapshot a request under its key, with a stranger to both
    claim = world.plan(await world.issued(), commit_idempotency_key="k")
    other = world.plan(await world.issued(), commit_idempotency_key="k")
    beside = world.plan(await world.issued())
    async with isolated(module_database, isolation) as database:
        committer = PostgresCommitter(database, world.authority.clock, CommitterSettings(SOURCE, ANY_CLOCK_MS))
        deadline = asyncio.get_running_loop().time() + 20
        async with claimed(databases, world, claim):
            task = asyncio.create_task(committer.commit_together([other, beside], deadline))
            await until(lambda: waits_for_a_transaction(superuser))
        outcomes = await task

    # then the one is a conflict with what is durable now, and the stranger is committed
    conflict, committed = outcomes
    assert isinstance(conflict, Conflicting)
    assert conflict.receipt.statement == claim.receipt
    assert isinstance(committed, Committed)
    assert not committed.replayed
    assert await world.counts() == all_are(2)


async def test_c09_a_collision_that_lasts_is_contention_and_no_conflict(
    world: World, databases: Mapping[Power, Database]
) -> None:
    # given a claim that does not become durable, when another request under its key cannot wait that long
    claim = world.plan(await world.issued(), commit_idempotency_key="k")
    other = world.plan(await world.issued(), commit_idempotency_key="k")
    async with claimed(databases, world, claim, keep=False):
        assert await world.carry_out(other, within_s=0.4) == Refusal(Reason.CONTENTION)

    # then nothing is known against it: it commits when the claim was given up
    assert isinstance(await world.carry_out(other), Committed)
    assert await world.counts() == all_are(1)


@asynccontextmanager
async def isolated(url: str, isolation: str) -> AsyncIterator[Database]:
    """One connection whose transactions are of another kind than the service's."""
    database = Database(await connect_pool(PoolSettings(url, Power.COMMIT, most=1)))
    async with database.pool.acquire() as connection:
        await connection.execute(f"set session characteristics as transaction isolation level {isolation}")
    yield database
    await database.close()


@asynccontextmanager
async def claimed(
    databases: Mapping[Power, Database], world: World, plan: CommitPlan, *, keep: bool = True
) -> AsyncIterator[None]:
    """The plan is carried out by a transaction that ends with the block, for better or worse."""
    async with databases[Power.COMMIT].pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        bound = dt.timedelta(milliseconds=ANY_CLOCK_MS)
        row = await connection.fetchrow(query("commit"), [plan_row(plan)], world.now(), bound, SOURCE)
        assert row is not None
        assert row["outcome"] == "committed"
        try:
            yield
        finally:
            await (transaction.commit() if keep else transaction.rollback())


async def waits_for_a_transaction(superuser: Superuser) -> bool:
    """Whether a session of this database waits for another's transaction to end."""
    await superuser.execute("select pg_stat_clear_snapshot()")
    return bool(
        await superuser.fetchval(
            """
            select exists (select 1 from pg_locks l join pg_stat_activity a using (pid)
              where l.locktype = 'transactionid' and not l.granted and a.datname = current_database())
            """
        )
    )
