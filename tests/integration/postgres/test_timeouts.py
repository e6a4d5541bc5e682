"""The database ends what takes too long: nothing of it stays, and the connection is not used again (case C20)."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from authority.domain.plan import Committed
from authority.domain.proposal import ProposalState
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.postgres.committer import CommitterSettings, PostgresCommitter
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.usecases.commit import CommitAnswer
from authority.usecases.ports import DependencyUnavailable
from tests.integration.postgres.superuser import Superuser, gate, until
from tests.world.authority import Authority
from tests.world.stores import SOURCE, postgres_store
from tests.world.world import World, all_are, must, reason_of

STATEMENT_MS = 100


@pytest.fixture
async def hasty(module_database: str) -> AsyncIterator[Database]:
    """The power to commit over one connection, whose statements may take a tenth of a second."""
    settings = PoolSettings(module_database, Power.COMMIT, most=1, statement_timeout_ms=STATEMENT_MS)
    database = Database(await connect_pool(settings))
    yield database
    await database.close()


@pytest.fixture
async def world(databases: Mapping[Power, Database], hasty: Database, tmp_path: Path) -> World:
    """A world that commits in haste."""
    mixed = {**databases, Power.COMMIT: hasty}
    return await World.begin(Authority.open(tmp_path / "keys", lambda *tools: postgres_store(mixed, *tools)))


async def test_c20_a_commit_that_takes_too_long_is_unavailable_and_its_connection_dropped(
    world: World, superuser: Superuser, hasty: Database
) -> None:
    # given a commit that never gets on
    issued = await world.issued()
    async with hasty.pool.acquire() as connection:
        backend = connection.get_server_pid()
    async with gate(superuser):
        assert await world.commit(issued, within_s=0.4) == Refusal(Reason.DEPENDENCY_UNAVAILABLE)
    assert await world.counts() == all_are(0)

    # when nothing is in its way any more, then the retry commits, over another connection
    assert not must(await world.commit(issued)).replayed
    assert await world.counts() == all_are(1)
    async with hasty.pool.acquire() as connection:
        assert connection.get_server_pid() != backend


async def test_c20_a_batch_that_takes_too_long_is_unavailable_item_by_item_and_leaves_nothing(
    world: World, superuser: Superuser
) -> None:
    # given a batch of which one item never gets on, and one that is refused for what it is
    many = [await world.issued() for _ in range(3)]
    expired = await world.issued_on(await world.allowed(), lifetime_ms=1_000)
    world.authority.clock.advance(2_000)
    async with gate(superuser):
        answers = must(await world.commit_batch([*many, expired], within_s=0.6))

    # then nobody is told anything final that was not judged, and nothing of it stays
    assert [reason_of(answer) for answer in answers] == [Reason.DEPENDENCY_UNAVAILABLE] * 4
    assert await world.counts() == all_are(0)

    # when nothing is in its way any more, then the same batch commits
    answers = must(await world.commit_batch([*many, expired]))
    assert [isinstance(answer, CommitAnswer) and not answer.replayed for answer in answers[:3]] == [True] * 3
    assert reason_of(answers[3]) is Reason.EXPIRED
    assert await world.counts() == all_are(3)


async def test_c20_a_session_that_idles_in_its_transaction_is_ended(
    world: World, superuser: Superuser, databases: Mapping[Power, Database]
) -> None:
    # given a transaction that has written and then does nothing for longer than its session may
    database, backends = databases[Power.PROPOSE], []

    async def idle() -> None:
        async with database.transaction(world.tenant) as connection:
            backends.append(connection.get_server_pid())
            await connection.execute("update authority.proposal_head set state = 'rejected'")
            await connection.execute("set local idle_in_transaction_session_timeout = '20ms'")
            await until(ended)
            await connection.execute("select 1")

    async def ended() -> bool:
        return not await superuser.fetchval("select count(*) from pg_stat_activity where pid = $1", backends[0])

    proposal = await world.validated()
    with pytest.raises(DependencyUnavailable):
        await idle()

    # then nothing of it stays, and whoever comes next works, on another connection
    revision = proposal.revision
    found = await world.authority.store.proposals.get(world.tenant, revision.proposal_id, revision.revision)
    assert found
    assert found.state is ProposalState.VALIDATED
    async with database.pool.acquire() as connection:
        assert connection.get_server_pid() != backends[0]


@pytest.mark.parametrize("shift", [30_000, -30_000])
async def test_a_clock_that_is_off_judges_nothing(world: World, hasty: Database, shift: int) -> None:
    # given a service whose clock is half a minute off the database's, while five seconds are the bound
    clock = world.authority.clock
    clock.instant = await hasty.pool.fetchval("select clock_timestamp()")
    plan = world.plan(await world.issued())
    committer = PostgresCommitter(hasty, clock, CommitterSettings(SOURCE, clock_bound_ms=5_000))
    clock.advance(shift)

    # then what it says of times is not believed
    deadline = asyncio.get_running_loop().time() + 0.3
    assert await committer.commit(plan, deadline) == Refusal(Reason.DEPENDENCY_UNAVAILABLE)
    assert await world.counts() == all_are(0)

    # and once it is right again, the same plan commits
    clock.advance(-shift)
    assert isinstance(await committer.commit(plan, deadline + 5), Committed)
