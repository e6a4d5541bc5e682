"""A revocation whose answer is lost, or whose caller goes away, has happened or not: the same request finds out."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from authority.domain.reasons import Reason
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.postgres.revocations import PostgresRevocations
from authority.usecases.ports import Clock, DependencyUnavailable, RevokedCapability, Statements
from tests.integration.postgres.forwarder import Forwarder
from tests.integration.postgres.superuser import Superuser, gate
from tests.world.authority import Authority
from tests.world.stores import Store, connected, postgres_store
from tests.world.world import Issued, World, all_are, must, reason_of

MORE_THAN_IT_ASKS = 24


@pytest.fixture
async def way(module_database: str) -> AsyncIterator[Forwarder]:
    """The way of revocations to the database."""
    async with Forwarder(module_database) as forwarder:
        yield forwarder


@pytest.fixture
async def world(module_database: str, way: Forwarder, tmp_path: Path) -> AsyncIterator[World]:
    """A world whose revocations go by a way that can lose answers, over one connection at a time."""
    async with connected(module_database) as databases:
        revoking = Database(await connect_pool(PoolSettings(way.url, Power.ISSUE, most=1)))

        def open_store(clock: Clock, statements: Statements) -> Store:
            return replace(postgres_store(databases, clock, statements), revocations=PostgresRevocations(revoking))

        yield await World.begin(Authority.open(tmp_path / "keys", open_store))
        await revoking.close()


async def revocations(superuser: Superuser, issued: Issued) -> int:
    """How many the audit log tells of."""
    count = await superuser.fetchval(
        "select count(*) from authority.audit_event where tenant = $1 and kind = 'capability.revoke' and subject = $2",
        str(issued.capability.terms.tenant),
        issued.capability.terms.capability_id,
    )
    assert isinstance(count, int)
    return count


async def test_c01_whichever_answer_is_lost_the_same_request_finds_out(
    world: World, way: Forwarder, superuser: Superuser
) -> None:
    # given a revocation, of which the first, the second, … answer of the database is lost
    lost, first = 0, world.now()
    for passed in range(MORE_THAN_IT_ASKS):
        issued = await world.issued()
        way.answers_to_pass, way.answers_to_lose = passed, 1
        try:
            await world.revoke(issued, request_id=f"r{passed}")
        except DependencyUnavailable:
            lost += 1
        way.answers_to_pass = way.answers_to_lose = 0

        # when it is asked for again, then it has happened once, and has the time at which it did
        world.authority.clock.advance(1)
        happened = await revocations(superuser, issued)
        at = first if happened else world.now()
        assert must(await world.revoke(issued, request_id=f"r{passed}")) == RevokedCapability(
            at, replayed=happened == 1
        )
        assert await revocations(superuser, issued) == 1
        assert reason_of(await world.commit(issued)) is Reason.REVOKED
        world.authority.clock.advance(-1)
    assert 8 < lost < MORE_THAN_IT_ASKS, "every answer was lost once, and in the end there was none to lose"
    assert await world.counts() == all_are(0)


async def test_c02_a_caller_that_goes_away_at_any_moment_leaves_a_whole_revocation_or_none(
    world: World, superuser: Superuser
) -> None:
    # given a revocation whose caller goes away after so many turns of the loop
    moments = range(0, 120, 3)
    done = 0
    for turns in moments:
        issued = await world.issued()
        task = asyncio.create_task(world.revoke(issued, request_id=f"r{turns}"))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        [outcome] = await asyncio.gather(task, return_exceptions=True)
        done += not isinstance(outcome, BaseException)

        # when the same request comes again, then it has happened once: what the database was still at, too
        happened = await revocations(superuser, issued)
        assert must(await world.revoke(issued, request_id=f"r{turns}")).replayed >= happened
        assert await revocations(superuser, issued) == 1
        assert reason_of(await world.commit(issued)) is Reason.REVOKED
    assert done < len(moments)
    assert await world.counts() == all_are(0)


async def test_a_caller_that_does_not_wait_for_a_running_commit_withdraws_nothing_and_holds_up_nobody(
    world: World, superuser: Superuser
) -> None:
    # given a commit in the middle of its writing, and a revocation that waits for it
    running, issued = await world.issued(), await world.issued()
    async with gate(superuser) as closed:
        commit = asyncio.create_task(world.commit(running))
        await closed.reached()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(world.revoke(issued, request_id="r"), 0.2)

        # when its caller is gone, then it waits no longer: the capability is good, and others commit meanwhile
        await closed.open()
        must(await commit)
    assert await revocations(superuser, issued) == 0
    must(await world.commit(issued))
    assert await world.counts() == all_are(2)


async def test_a_database_that_takes_no_connection_is_unavailable_and_revokes_nothing(world: World) -> None:
    issued = await world.issued()
    settings = PoolSettings("postgresql://authority@127.0.0.1:1/nowhere", Power.ISSUE, most=1)
    away = Database(await connect_pool(settings))
    mark = world.mark(world.service, None, "revoke")
    with pytest.raises(DependencyUnavailable):
        await PostgresRevocations(away).revoke_capability(mark, issued.capability.terms.capability_id, world.now())
    await away.close()
    must(await world.commit(issued))
