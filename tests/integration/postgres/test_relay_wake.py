"""The relay is woken after a commit, once for all that is committed meanwhile, and nobody waits for it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import asyncpg
import pytest
from structlog.testing import capture_logs

from authority.domain.plan import CommitPlan, Committed
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.postgres.committer import CommitterSettings, PostgresCommitter
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.postgres.record_revocations import PostgresRecordRevocations
from authority.postgres.relay_wake import OUTBOX_CHANNEL, RelayWake
from tests.integration.postgres.superuser import Superuser, trigger
from tests.world.stores import ANY_CLOCK_MS, SOURCE
from tests.world.world import World, all_are

WITHIN_S = 20.0
LAST = "the last one"


@dataclass(frozen=True, slots=True)
class Listener:
    """Listens as the relay does."""

    superuser: Superuser
    heard: "asyncio.Queue[str]" = field(default_factory=asyncio.Queue)

    def hear(self, *notification: object) -> None:
        self.heard.put_nowait(str(notification[-1]))

    async def next(self) -> str:
        """What the next notification says, once it is there."""
        return await asyncio.wait_for(self.heard.get(), WITHIN_S)

    async def up_to_now(self) -> list[str]:
        """Every notification of what has committed by now: they come in the order of their commits."""
        await self.superuser.execute("select pg_notify($1, $2)", OUTBOX_CHANNEL, LAST)
        heard: list[str] = []
        while (said := await self.next()) != LAST:
            heard.append(said)
        return heard


@pytest.fixture
async def listener(module_database: str, superuser: Superuser) -> AsyncIterator[Listener]:
    listener = Listener(superuser)
    connection = await asyncpg.connect(module_database)
    await connection.add_listener(OUTBOX_CHANNEL, listener.hear)
    yield listener
    await connection.close()


def committing(world: World, database: Database, relay: RelayWake) -> PostgresCommitter:
    settings = CommitterSettings(SOURCE, ANY_CLOCK_MS)
    return PostgresCommitter(database, world.authority.clock, settings, relay)


@pytest.fixture
def committer(world: World, databases: Mapping[Power, Database]) -> PostgresCommitter:
    database = databases[Power.COMMIT]
    return committing(world, database, RelayWake(database))


async def plans(world: World, count: int) -> list[CommitPlan]:
    return [world.plan(await world.issued()) for _ in range(count)]


def soon() -> float:
    return asyncio.get_running_loop().time() + WITHIN_S


async def test_a_commit_wakes_whoever_listens_and_its_event_is_there(
    world: World, committer: PostgresCommitter, listener: Listener
) -> None:
    # given somebody who listens, when a plan is committed
    [plan] = await plans(world, 1)
    await committer.commit(plan, soon())

    # then it is woken, and finds the event
    assert await listener.next() == ""
    event = await listener.superuser.fetchval("select type from authority.outbox where id = $1", plan.event_id)
    assert event == "memory.committed.v1"


async def test_a_revocation_wakes_whoever_listens_and_asking_again_wakes_nobody(
    world: World, databases: Mapping[Power, Database], listener: Listener
) -> None:
    # given somebody who listens, when a record is revoked
    _, answer = await world.committed()
    wake = RelayWake(databases[Power.ISSUE])
    revocations, mark = PostgresRecordRevocations(databases[Power.ISSUE], SOURCE, wake), world.mark(world.admin, "r")
    await listener.up_to_now()
    asked = (mark, answer.receipt.record_id, "", "", world.now())
    await revocations.revoke_record(*asked)

    # then it is woken, and finds the event; and by what changes nothing it is not
    assert await listener.next() == ""
    types = await listener.superuser.fetch(
        "select type from authority.outbox where tenant = $1 order by sequence", str(world.tenant)
    )
    assert [row["type"] for row in types] == ["memory.committed.v1", "memory.revoked.v1"]
    await revocations.revoke_record(*asked)
    await wake.close()
    assert await listener.up_to_now() == []


async def test_many_commits_of_one_call_wake_once(
    world: World, committer: PostgresCommitter, listener: Listener
) -> None:
    await asyncio.gather(*(committer.commit(plan, soon()) for plan in await plans(world, 20)))
    await committer.close()
    assert await listener.up_to_now() == [""]


@pytest.mark.parametrize("table", ["commit_receipt", "memory_record", "outbox", "audit_event"])
async def test_h10_what_is_rolled_back_wakes_nobody(
    world: World, superuser: Superuser, committer: PostgresCommitter, listener: Listener, table: str
) -> None:
    # given a commit one of whose rows cannot be stored
    [plan] = await plans(world, 1)
    async with trigger(superuser, table, "raise exception using errcode = '23514';"):
        with pytest.raises(asyncpg.CheckViolationError):
            await committer.commit(plan, soon())
        await committer.close()

    # then there is no event and no notification of it
    assert await listener.up_to_now() == []
    assert await world.counts() == all_are(0)


async def test_replays_and_refusals_wake_nobody(world: World, committer: PostgresCommitter, listener: Listener) -> None:
    # given a commit that woke the relay
    issued = await world.issued()
    await committer.commit(world.plan(issued), soon())
    await committer.close()
    assert await listener.up_to_now() == [""]

    # when it is retried, and when another plan is refused
    replay = await committer.commit(world.plan(issued), soon())
    refused = world.plan(await world.issued(), verdict=Refusal(Reason.EXPIRED))
    assert await committer.commit(refused, soon()) == Refusal(Reason.EXPIRED)
    await committer.close()

    # then there is nothing new to tell
    assert isinstance(replay, Committed)
    assert replay.replayed
    assert await listener.up_to_now() == []


@dataclass(frozen=True, slots=True)
class Held(Database):
    """A real database, whose answers are held back while `passing` is not set."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    passing: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, sql: str, *arguments: object) -> asyncpg.Record | None:
        answer = await Database.ask(self, sql, *arguments)
        self.begun.set()
        await self.passing.wait()
        return answer


async def test_commits_wait_for_no_notification_and_share_the_next_one(
    world: World, databases: Mapping[Power, Database], listener: Listener
) -> None:
    # given a notification whose sender still waits
    held = Held(databases[Power.COMMIT].pool)
    committer = committing(world, databases[Power.COMMIT], RelayWake(held, within_s=WITHIN_S))
    first, *others = await plans(world, 6)
    await committer.commit(first, soon())
    await held.begun.wait()

    # when more is committed, call by call, then each has its answer at once
    for plan in others:
        assert isinstance(await committer.commit(plan, soon()), Committed)
    assert await listener.up_to_now() == [""]

    # and one more notification covers them all
    held.passing.set()
    await committer.close()
    assert await listener.up_to_now() == [""]


async def test_a_notification_that_hangs_is_given_up(
    world: World, databases: Mapping[Power, Database], listener: Listener
) -> None:
    # given a database that does not answer the notification, when something is committed
    held = Held(databases[Power.COMMIT].pool)
    committer = committing(world, databases[Power.COMMIT], RelayWake(held, within_s=0.05))
    [plan] = await plans(world, 1)
    with capture_logs() as logs:
        assert isinstance(await committer.commit(plan, soon()), Committed)
        await committer.close()

    # then closing does not wait for it, and the log says so
    assert [entry["error"] for entry in logs if entry["event"] == "relay not woken"] == ["TimeoutError"]


async def test_a_notification_that_fails_is_logged_and_changes_nothing(
    world: World, databases: Mapping[Power, Database]
) -> None:
    # given a way to the database by which no notification gets there, when something is committed
    away = Database(
        await connect_pool(PoolSettings("postgresql://authority@127.0.0.1:1/nowhere", Power.COMMIT, most=1))
    )
    committer = committing(world, databases[Power.COMMIT], RelayWake(away))
    with capture_logs() as logs:
        outcomes = [await committer.commit(plan, soon()) for plan in await plans(world, 2)]
        await committer.close()
    await away.close()

    # then it is committed all the same
    assert all(isinstance(outcome, Committed) for outcome in outcomes)
    assert await world.counts() == all_are(2)
    assert {entry["error"] for entry in logs if entry["event"] == "relay not woken"} == {"DependencyUnavailable"}
