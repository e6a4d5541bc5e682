"""Callers go away at any moment (C02, C03, F03): what was sent is finished, and connections come back clean (C05)."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Mapping

import asyncpg
import pytest

from authority.domain.plan import Committed
from authority.domain.reasons import Reason
from authority.postgres.committer import PostgresCommitter
from authority.postgres.connections import Database, Power
from tests.integration.postgres.superuser import Superuser, gate, until
from tests.world.world import World, all_are, must, reason_of


def committer_of(world: World) -> PostgresCommitter:
    """The real one."""
    committer = world.authority.store.committer
    assert isinstance(committer, PostgresCommitter)
    return committer


async def cancelled(task: "asyncio.Task[object]") -> None:
    """The caller goes away."""
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_c02_c03_f03_a_commit_whose_caller_goes_away_inside_it_is_finished_and_replays(
    world: World, superuser: Superuser
) -> None:
    # given a call in the middle of its writing
    issued = await world.issued()
    async with gate(superuser) as closed:
        task = asyncio.create_task(world.commit(issued))
        await closed.reached()

        # when its caller goes away, then the call goes on; and whoever asks now is told that it runs
        await cancelled(task)
        assert reason_of(await world.commit(issued, within_s=0.2)) is Reason.IN_PROGRESS
        assert await world.counts() == all_are(0)
        await closed.open()
        await committer_of(world).close()

    # then it is done, and the retry is a replay
    assert await world.counts() == all_are(1)
    assert must(await world.commit(issued)).replayed
    assert await world.counts() == all_are(1)


async def test_c02_a_commit_whose_caller_goes_away_at_once_happens_once(world: World) -> None:
    # given callers that go away after each number of turns of the loop
    for turns in range(12):
        issued = await world.issued()
        task = asyncio.create_task(world.commit(issued))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

        # when they come again, then there is one commit, by the first call or by the second
        answer = must(await world.commit(issued))
        assert answer.receipt == must(await world.commit(issued)).receipt
        assert await world.counts() == all_are(turns + 1)


async def test_f03_a_deadline_that_passes_inside_a_commit_does_not_reach_it(world: World, superuser: Superuser) -> None:
    # given a caller that waits half a second for a call that takes longer
    issued = await world.issued()
    async with gate(superuser) as closed:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(world.commit(issued), 0.5)
        await closed.reached()
        await closed.open()
        await committer_of(world).close()
    assert must(await world.commit(issued)).replayed
    assert await world.counts() == all_are(1)


async def test_a_failure_that_nobody_waits_for_any_more_is_not_lost_in_the_loop(
    world: World, superuser: Superuser
) -> None:
    # given a call that will fail, and whose caller goes away
    issued = await world.issued()
    async with gate(superuser) as closed:
        task = asyncio.create_task(world.carry_out(world.plan(issued), within_s=0.5))
        await closed.reached()
        await cancelled(task)
        await superuser.execute("alter table authority.outbox add constraint no_more check (false) not valid")
        await closed.open()
        await committer_of(world).close()

    # then nothing of it stays, and the next one may try again
    await superuser.execute("alter table authority.outbox drop constraint no_more")
    assert await world.counts() == all_are(0)
    assert isinstance(await world.carry_out(world.plan(issued)), Committed)


# --- connections ------------------------------------------------------------------------------------------------------


async def test_c05_after_cancellations_at_random_every_connection_is_clean(
    world: World, superuser: Superuser, databases: Mapping[Power, Database]
) -> None:
    # given every kind of work of the store, each cancelled after a random number of turns of the loop
    dice = random.Random(5)  # noqa: S311 - the same turns in every run
    ground, proposal = await world.allowed(), await world.proposed()
    capabilities = [await world.issued() for _ in range(20)]
    store = world.authority.store
    works: list[Callable[[], Awaitable[object]]] = [
        world.propose,
        lambda: world.validate(proposal),
        lambda: world.approve(ground.proposal),
        lambda: world.decide(ground.proposal),
        lambda: world.issue(ground, f"k{dice.random()}"),
        lambda: store.registry.active_key(world.tenant, world.user.ref, world.user.key_id),
        lambda: store.receipts.page(world.tenant, memory_namespace="notes", holder=None, after="", size=9),
        lambda: world.commit(dice.choice(capabilities)),
        lambda: world.commit_batch(dice.sample(capabilities, 4)),
        world.counts,
    ]
    for _ in range(40):
        tasks = [asyncio.ensure_future(work()) for work in works]
        for task in tasks:
            for _turn in range(dice.randrange(6)):
                await asyncio.sleep(0)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # then no session of ours is left in a transaction, or in an error
    async def all_idle() -> bool:
        rows = await superuser.fetch(
            """
            select state from pg_stat_activity
            where datname = current_database() and application_name like 'authority\\_%'
            """
        )
        return bool(rows) and {row["state"] for row in rows} == {"idle"}

    await until(all_idle)
    for database in databases.values():
        assert await is_clean(database)

    # and what the next borrowers write is durable, and whole
    await committer_of(world).close()
    before = (await world.counts()).records
    assert await world.counts() == all_are(before)
    issued, _ = await world.committed()
    assert await world.counts() == all_are(before + 1)
    assert must(await world.commit(issued)).replayed


async def test_c05_a_caller_that_goes_away_while_its_transaction_begins_is_no_error_in_the_log(
    world: World, databases: Mapping[Power, Database], caplog: pytest.LogCaptureFixture
) -> None:
    async def read() -> None:
        async with databases[Power.READ].transaction(world.tenant, read_only=True) as connection:
            await connection.fetchval("select 1")

    # given a connection that is there, and callers that go away after each number of turns of the loop
    await read()
    for turns in range(12):
        task = asyncio.create_task(read())
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    # then the next ones are served, and there is nothing for an operator to look into
    await read()
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


async def is_clean(database: Database) -> bool:
    """Whether every connection that can be borrowed is in no transaction."""
    async with asyncio.TaskGroup() as borrowers:
        everybody = asyncio.Barrier(database.pool.get_max_size())
        states = [borrowers.create_task(state_of(database, everybody)) for _ in range(database.pool.get_max_size())]
    return not any(state.result() for state in states)


async def state_of(database: Database, everybody: asyncio.Barrier) -> bool:
    """Whether a borrowed connection is in a transaction; all are borrowed at once, so that each is looked at."""
    async with database.pool.acquire() as connection:
        await everybody.wait()
        return connection.is_in_transaction()


async def test_c04_an_error_inside_a_transaction_reaches_the_caller(
    world: World, databases: Mapping[Power, Database]
) -> None:
    # given a transaction one of whose statements fails, then the block fails: it cannot end as if it had committed
    with pytest.raises(asyncpg.DivisionByZeroError):
        async with databases[Power.PROPOSE].transaction(world.tenant) as connection:
            await connection.execute("select 1 / 0")
