"""A call whose answer is lost may have committed or not: the same plan is asked again, and it is told as it was."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from authority.domain.plan import Committed
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.postgres.committer import CommitterSettings, PostgresCommitter
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from tests.integration.postgres.forwarder import Forwarder
from tests.integration.postgres.superuser import Superuser, gate
from tests.world.authority import Authority
from tests.world.stores import SOURCE, connected, postgres_store
from tests.world.world import World, all_are, must


@pytest.fixture
async def way(module_database: str) -> AsyncIterator[Forwarder]:
    """The way of the commit calls to the database."""
    async with Forwarder(module_database) as forwarder:
        yield forwarder


@pytest.fixture
async def world(module_database: str, way: Forwarder, tmp_path: Path) -> AsyncIterator[World]:
    """A world whose commit calls go by a way that can lose answers, each over one connection at a time."""
    async with connected(module_database) as databases:
        committing = Database(await connect_pool(PoolSettings(way.url, Power.COMMIT, most=1)))
        mixed = {**databases, Power.COMMIT: committing}
        authority = Authority.open(tmp_path / "keys", lambda *tools: postgres_store(mixed, *tools))
        yield await World.begin(authority)
        await committing.close()


async def test_c01_an_answer_lost_after_the_commit_is_asked_for_again(world: World, way: Forwarder) -> None:
    # given a committer whose statement is prepared, so that its next call is one question and one answer
    await world.committed()
    plan = world.plan(await world.issued())

    # when the answer of a call that committed is lost
    way.answers_to_lose = 1
    outcome = await world.carry_out(plan)

    # then the same plan finds its own receipt: it is a success, and no replay; and it happened once
    assert way.answers_to_lose == 0
    assert isinstance(outcome, Committed)
    assert (outcome.replayed, outcome.receipt.statement) == (False, plan.receipt)
    assert await world.counts() == all_are(2)


async def test_c01_an_answer_that_stays_lost_is_unavailable_and_its_retry_a_replay(
    world: World, way: Forwarder
) -> None:
    # given a commit whose every answer is lost until its caller's time is over
    await world.committed()
    issued = await world.issued()
    way.answers_to_lose = 1_000_000
    assert await world.commit(issued, within_s=0.3) == Refusal(Reason.DEPENDENCY_UNAVAILABLE)

    # when the way is good again, then the retry finds what the first attempt did
    way.answers_to_lose = 0
    assert must(await world.commit(issued)).replayed
    assert await world.counts() == all_are(2)


async def test_c01_a_backend_killed_before_the_commit_is_asked_again_and_commits_once(
    world: World, superuser: Superuser
) -> None:
    # given a call in the middle of its writing
    issued = await world.issued()
    plan = world.plan(issued)
    async with gate(superuser) as closed:
        task = asyncio.create_task(world.carry_out(plan))
        await closed.reached()

        # when its backend is killed, then the plan is asked again over another connection, and stands there again
        assert await superuser.fetchval(
            """
            select pg_terminate_backend(pid, 5000) from pg_stat_activity
            where application_name = 'authority_commit' and wait_event = 'advisory' and datname = current_database()
            """
        )
        await closed.reached()
        await closed.open()
        outcome = await task

    # and it commits, once
    assert isinstance(outcome, Committed)
    assert (outcome.replayed, outcome.receipt.statement) == (False, plan.receipt)
    assert await world.counts() == all_are(1)


async def test_a13_a_database_that_is_away_is_unavailable_and_nothing_is_kept_of_it(world: World) -> None:
    # given a database that takes no connections
    issued = await world.issued()
    settings = PoolSettings("postgresql://authority@127.0.0.1:1/nowhere", Power.COMMIT, most=1)
    away = Database(await connect_pool(settings))
    committer = PostgresCommitter(away, world.authority.clock, CommitterSettings(SOURCE))
    deadline = asyncio.get_running_loop().time() + 0.3
    assert await committer.commit(world.plan(issued), deadline) == Refusal(Reason.DEPENDENCY_UNAVAILABLE)
    await away.close()

    # when it is back, then the same call commits
    assert not must(await world.commit(issued)).replayed
