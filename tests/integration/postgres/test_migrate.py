"""Migrating again changes nothing, and disturbs nobody who is at work."""

import asyncio
from collections.abc import Mapping

import psycopg
import pytest

from authority.embedded import PostgresServer
from authority.postgres.connections import Database, Power
from authority.postgres.migrate import MigrationFailed, migrate
from tests.integration.postgres.superuser import Superuser
from tests.real_servers import new_database
from tests.world.world import World, all_are, must

SCHEMA = """
select 'function ' || oid || pg_get_functiondef(oid) || coalesce(proacl::text, '') || proowner
from pg_proc where pronamespace = 'authority'::regnamespace
union all
select 'type ' || oid || typname || coalesce(typacl::text, '') || typowner
from pg_type where typnamespace = 'authority'::regnamespace
union all
select 'relation ' || oid || relname || relkind::text || relrowsecurity || relforcerowsecurity
  || coalesce(relacl::text, '')
from pg_class where relnamespace = 'authority'::regnamespace
union all
select 'column ' || attrelid || attname || atttypid || attnotnull || coalesce(attacl::text, '')
from pg_attribute join pg_class on oid = attrelid where relnamespace = 'authority'::regnamespace
union all
select 'constraint ' || oid || conname || pg_get_constraintdef(oid)
from pg_constraint where connamespace = 'authority'::regnamespace
union all
select 'policy ' || oid || polname || pg_get_expr(polqual, polrelid) || polroles::text from pg_policy
order by 1
"""
"""All that there is, with what it is known by inside the database, and the rights on it."""


async def schema(superuser: Superuser) -> list[str]:
    """What the database says of itself."""
    return [row[0] for row in await superuser.fetch(SCHEMA)]


async def test_migrating_again_changes_nothing(module_database: str, superuser: Superuser) -> None:
    before = await schema(superuser)
    assert len(before) > 500
    assert await asyncio.to_thread(migrate, module_database) == []
    assert await schema(superuser) == before


async def test_many_may_migrate_at_once(postgres_server: PostgresServer) -> None:
    with new_database(postgres_server, template="template0") as url:
        applied = await asyncio.gather(*(asyncio.to_thread(migrate, url) for _ in range(4)))
    assert sorted(map(len, applied)) == [0, 0, 0, len(max(applied, key=len))]


async def test_processes_at_work_do_not_notice(
    world: World, module_database: str, databases: Mapping[Power, Database]
) -> None:
    # given processes whose statements are prepared, when another one starts and migrates, then they go on
    for _ in range(3):
        issued, _ = await world.committed()
        await asyncio.to_thread(migrate, module_database)
        assert must(await world.commit(issued)).replayed
    assert await world.counts() == all_are(3)


async def test_migrating_does_not_wait_for_whoever_is_at_work(
    module_database: str, superuser: Superuser, world: World
) -> None:
    # given a transaction that has written to a table and is not over
    async with superuser.transaction():
        for table in ("principal", "outbox", "commit_receipt", "proposal_head"):
            await superuser.execute(f"lock table authority.{table} in row exclusive mode")
        await asyncio.wait_for(asyncio.to_thread(migrate, module_database), 20)


async def test_a_database_that_cannot_be_migrated_says_why(postgres_server: PostgresServer) -> None:
    # given a database in which somebody else has a schema of our name
    with new_database(postgres_server, template="template0") as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("create schema authority")
        with pytest.raises(MigrationFailed, match="already exists"):
            await asyncio.to_thread(migrate, url)
    with pytest.raises(MigrationFailed):
        await asyncio.to_thread(migrate, "postgresql://nobody@127.0.0.1:1/nowhere")
