"""Lookups of keys share calls of the database, and none is answered by what was read before it was asked."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import asyncpg
import pytest

from authority.postgres.connections import Database, Power
from authority.postgres.registry import PostgresRegistry
from authority.usecases.ports import DependencyUnavailable, Overloaded
from tests.integration.postgres.superuser import Superuser, until
from tests.world.world import Person, World

if TYPE_CHECKING:
    from authority.domain.identity import RegisteredKey


@dataclass(frozen=True, slots=True)
class Watched(Database):
    """A real database. Tells for how many keys each call asks, and holds its answer back while `passing` is not set."""

    sizes: "asyncio.Queue[int]" = field(default_factory=asyncio.Queue)
    read: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once an answer was read."""
    passing: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask_all(self, sql: str, *arguments: object) -> list[asyncpg.Record]:
        lookups = arguments[0]
        assert isinstance(lookups, list)
        self.sizes.put_nowait(len(lookups))
        found = await Database.ask_all(self, sql, *arguments)
        self.read.set()
        await self.passing.wait()
        return found


@pytest.fixture
def watched(databases: Mapping[Power, Database]) -> Watched:
    return Watched(databases[Power.READ].pool)


def ask(registry: PostgresRegistry, world: World, person: Person) -> "asyncio.Task[RegisteredKey | None]":
    return asyncio.create_task(registry.active_key(world.tenant, person.ref, person.key_id))


@asynccontextmanager
async def locked(superuser: Superuser) -> AsyncIterator[None]:
    """As long as the block lasts, nobody reads a principal."""
    async with superuser.transaction():
        await superuser.execute("lock table authority.principal in access exclusive mode")
        yield


async def waiting_backends(superuser: Superuser) -> list[int]:
    # In a transaction the sessions that there are would be those of the first look.
    await superuser.execute("select pg_stat_clear_snapshot()")
    rows = await superuser.fetch(
        """
        select pid from pg_stat_activity
        where datname = current_database() and application_name = 'authority_read' and wait_event_type = 'Lock'
        """
    )
    return [row["pid"] for row in rows]


async def wait_for_backends(superuser: Superuser, number: int) -> None:
    async def there() -> bool:
        return len(await waiting_backends(superuser)) == number

    await until(there)


async def fault_of(lookup: Awaitable[object]) -> type[BaseException] | None:
    [outcome] = await asyncio.gather(lookup, return_exceptions=True)
    return type(outcome) if isinstance(outcome, BaseException) else None


async def test_what_is_asked_while_calls_are_under_way_goes_together(world: World, watched: Watched) -> None:
    # given two calls whose answers are still on their way
    registry = PostgresRegistry(watched)
    first = ask(registry, world, world.service)
    assert await watched.sizes.get() == 1
    second = ask(registry, world, world.user)
    assert await watched.sizes.get() == 1

    # when many ask, some of them for the same key
    people = [world.agent, world.user, world.service] * 20
    others = [ask(registry, world, person) for person in people]
    await asyncio.sleep(0)
    watched.passing.set()

    # then one call asks once for each key, and everybody has an answer
    assert [found and found.principal for found in await asyncio.gather(first, second, *others)] == [
        person.principal for person in (world.service, world.user, *people)
    ]
    assert await watched.sizes.get() == 3
    assert watched.sizes.empty()


async def test_a_revocation_that_was_acknowledged_is_seen_beside_a_call_that_read_before_it(
    world: World, watched: Watched
) -> None:
    # given a lookup that has read its key as active, and whose answer is still on its way
    registry = PostgresRegistry(watched)
    before = ask(registry, world, world.service)
    await watched.read.wait()

    # when the key is revoked, and then looked up
    await world.authority.store.administration.revoke_principal_key(world.tenant, world.service.key_id, world.now())
    after = ask(registry, world, world.service)
    watched.passing.set()

    # then the later one is not answered by what the earlier one read
    assert await after is None
    assert await before is not None


async def test_a_call_that_fails_fails_the_lookups_in_it_and_no_others(
    world: World, superuser: Superuser, databases: Mapping[Power, Database]
) -> None:
    # given a call of two lookups that waits in the database, and another one
    registry = PostgresRegistry(databases[Power.READ])
    async with locked(superuser):
        lost = [ask(registry, world, person) for person in (world.service, world.user)]
        await wait_for_backends(superuser, 1)
        [backend] = await waiting_backends(superuser)
        kept = ask(registry, world, world.service)
        await wait_for_backends(superuser, 2)

        # when the first one's connection is cut
        await superuser.fetchval("select pg_terminate_backend($1, 5000)", backend)

        # then what was in it is unavailable, and the other is answered
        assert [await fault_of(lookup) for lookup in lost] == [DependencyUnavailable] * 2
    assert await kept is not None
    assert await ask(registry, world, world.user) is not None


async def test_f03_a_caller_that_goes_away_takes_no_other_lookup_with_it(
    world: World, superuser: Superuser, databases: Mapping[Power, Database]
) -> None:
    registry = PostgresRegistry(databases[Power.READ])
    async with locked(superuser):
        gone, stays = ask(registry, world, world.service), ask(registry, world, world.user)
        await wait_for_backends(superuser, 1)
        gone.cancel()
        assert await fault_of(gone) is asyncio.CancelledError
    assert await stays is not None


async def test_a_database_that_hangs_is_waited_for_only_so_long(
    world: World, superuser: Superuser, databases: Mapping[Power, Database]
) -> None:
    # given a database that does not answer, when it was waited for as long as that may take
    registry = PostgresRegistry(databases[Power.READ], within_s=0.1)
    async with locked(superuser):
        assert await fault_of(ask(registry, world, world.service)) is DependencyUnavailable
        # then its connection waits no longer
        await wait_for_backends(superuser, 0)
    registry = PostgresRegistry(databases[Power.READ])
    assert await ask(registry, world, world.service) is not None


async def test_a_database_that_is_away_is_unavailable(world: World, databases: Mapping[Power, Database]) -> None:
    pool = await asyncpg.create_pool("postgresql://authority@127.0.0.1:1/nowhere", min_size=0)
    registry = PostgresRegistry(Database(pool))
    assert await fault_of(ask(registry, world, world.service)) is DependencyUnavailable
    await pool.close()


async def test_more_lookups_than_may_wait_are_refused_at_once(world: World, watched: Watched) -> None:
    # given as many lookups as may wait, when three more come, then these are told so and the others answered
    registry = PostgresRegistry(watched)
    watched.passing.set()
    lookups = [ask(registry, world, world.service) for _ in range(4_099)]
    faults = [await fault_of(lookup) for lookup in lookups]
    assert faults == [None] * 4_096 + [Overloaded] * 3
