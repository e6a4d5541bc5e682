"""A caller goes away between Redis and the database: its commit is finished or was never sent, its lease expires."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest
from redis.asyncio import Redis

from authority.domain.plan import Claim
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.embedded import ValkeyServer, start_valkey
from authority.postgres.committer import PostgresCommitter
from authority.postgres.connections import Database, Power
from authority.redis.leases import RedisLeases
from authority.usecases.ports import Sighting
from capability_authority.offline import sha256
from tests.integration.postgres.superuser import Superuser, gate
from tests.redis_room import LEASE_MS, PATIENT, REPLAY_MS, Room, let_pass, operator_at, room_at
from tests.world.authority import Authority
from tests.world.stores import postgres_store
from tests.world.world import Issued, Presented, World, all_are, must

OTHER: Presented = {"content": b"other", "content_digest": sha256(b"other")}


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyServer]:
    """A server of this module's own: it is made to hang."""
    with start_valkey(tmp_path_factory.mktemp("valkey") / "data") as server:
        yield server


@pytest.fixture
async def room(valkey: ValkeyServer) -> AsyncIterator[Room]:
    async with room_at(valkey.url, settings=PATIENT) as room:
        yield room


@pytest.fixture
async def redis(valkey: ValkeyServer) -> AsyncIterator[Redis]:
    async with operator_at(valkey.url) as redis:
        yield redis


class Leases(RedisLeases):
    """Real ones. They tell when they are asked, and when somebody waits for what was told."""

    def __init__(self, room: Room) -> None:
        super().__init__(room.link, room.names, lease_ms=LEASE_MS, replay_ms=REPLAY_MS)
        self.asked = asyncio.Event()
        self.told = asyncio.Event()

    async def sight(self, claim: Claim) -> Sighting:
        self.asked.set()
        return await super().sight(claim)

    async def heard(self) -> None:
        self.told.set()
        await super().heard()


@pytest.fixture
def leases(room: Room) -> Leases:
    return Leases(room)


@pytest.fixture
async def world(databases: Mapping[Power, Database], leases: Leases, tmp_path: Path) -> World:
    """A world on a real PostgreSQL, with its leases in a real Valkey."""
    open_store = partial(postgres_store, databases)
    return await World.begin(Authority.open(tmp_path / "keys", open_store, leases=leases))


async def goes_away(task: "asyncio.Task[object]") -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def drained(world: World) -> None:
    """Returns once everything that was sent is finished."""
    committer = world.authority.store.committer
    assert isinstance(committer, PostgresCommitter)
    await committer.close()


async def sighting(world: World, room: Room, issued: Issued) -> Sighting:
    await room.link.flush()
    return await room.leases.sight(world.plan(issued).claim)


async def test_b05_c02_a_caller_that_goes_away_while_redis_is_asked_has_sent_nothing(
    world: World, valkey: ValkeyServer, room: Room, leases: Leases
) -> None:
    # given a Redis that hangs, and a commit that asks it
    issued = await world.issued()
    valkey.pause()
    task = asyncio.create_task(world.commit(issued))
    await leases.asked.wait()

    # when its caller goes away
    await goes_away(task)
    valkey.resume()

    # then there is neither a lease nor a commit, and whoever comes next commits
    assert await sighting(world, room, issued) == Sighting(running_fingerprint=None, settled=None)
    await drained(world)
    assert await world.counts() == all_are(0)
    assert not must(await world.commit(issued)).replayed


async def test_c02_a15_a_caller_that_goes_away_inside_the_commit_leaves_its_lease_to_expire(
    world: World, superuser: Superuser, room: Room, redis: Redis
) -> None:
    # given a commit in the middle of its writing, under a lease
    issued = await world.issued()
    fingerprint = world.plan(issued).claim.fingerprint
    async with gate(superuser) as closed:
        task = asyncio.create_task(world.commit(issued))
        await closed.reached()
        assert (await sighting(world, room, issued)).running_fingerprint == fingerprint

        # when its caller goes away
        await goes_away(task)
        await closed.open()
        await drained(world)

    # then the commit is finished, though nobody gives the lease back, and the retry replays it under that lease
    assert await world.counts() == all_are(1)
    assert (await sighting(world, room, issued)).running_fingerprint == fingerprint
    assert must(await world.commit(issued)).replayed
    assert await world.counts() == all_are(1)

    # and the lease is gone after its time
    await let_pass(redis, LEASE_MS)
    assert (await sighting(world, room, issued)).running_fingerprint is None


async def test_c02_a_caller_that_goes_away_while_its_commit_is_told_of_leaves_a_commit_that_replays(
    world: World, superuser: Superuser, valkey: ValkeyServer, room: Room, leases: Leases
) -> None:
    # given a Redis that hangs once the commit is in the middle of its writing
    issued = await world.issued()
    async with gate(superuser) as closed:
        task = asyncio.create_task(world.commit(issued))
        await closed.reached()
        await sighting(world, room, issued)
        valkey.pause()
        await closed.open()
        # when its caller goes away after the commit, before Redis heard of it
        await leases.told.wait()
        assert await world.counts() == all_are(1)
        await goes_away(task)
        valkey.resume()

    # then Redis hears of it all the same, and the retry replays it
    found = await sighting(world, room, issued)
    assert (found.running_fingerprint, found.settled is not None) == (None, True)
    assert must(await world.commit(issued)).replayed
    assert await world.counts() == all_are(1)


async def test_c02_a18_a_lease_that_nobody_gives_back_hides_a_commit_that_came_to_nothing_only_for_its_time(
    world: World, superuser: Superuser, room: Room, redis: Redis
) -> None:
    # given a commit in the middle of its writing, whose caller goes away, and which then fails
    issued = await world.issued()
    async with gate(superuser) as closed:
        task = asyncio.create_task(world.commit(issued))
        await closed.reached()
        await goes_away(task)
        await superuser.execute("alter table authority.outbox add constraint no_more check (false) not valid")
        await closed.open()
        await drained(world)
    await superuser.execute("alter table authority.outbox drop constraint no_more")
    assert await world.counts() == all_are(0)

    # then another request under its key is a conflict as long as the lease lives, and afterwards what it is
    assert await world.commit(issued, **OTHER) == Refusal(Reason.IDEMPOTENCY_CONFLICT)
    await let_pass(redis, LEASE_MS)
    assert await world.commit(issued, **OTHER) == Refusal(Reason.BINDING_MISMATCH, {"term": "content_digest"})

    # and its own request commits
    assert not must(await world.commit(issued)).replayed
    assert await world.counts() == all_are(1)


async def test_c02_a_caller_that_goes_away_at_any_turn_leaves_one_commit_and_no_lasting_lease(
    world: World, room: Room, redis: Redis
) -> None:
    # given callers that go away after each number of turns of the loop, until one gets its answer
    turns, commits, is_answered = 0, 0, False
    while not is_answered:
        issued = await world.issued()
        task = asyncio.create_task(world.commit(issued))
        for _ in range(turns):
            await asyncio.sleep(0)
        is_answered = task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

        # when they come again, then there is one commit, by the first call or by the second
        answer = must(await world.commit(issued))
        assert answer.receipt == must(await world.commit(issued)).receipt
        turns, commits = turns * 3 // 2 + 1, commits + 1
        assert await world.counts() == all_are(commits)

        # and no lease outlives its time
        await let_pass(redis, LEASE_MS)
        assert (await sighting(world, room, issued)).running_fingerprint is None
