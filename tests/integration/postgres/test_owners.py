"""Migrating as the owner of a database who may create roles and is no superuser, and letting the service in."""

import asyncio
import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import asyncpg
import psycopg
import pytest
from pydantic import SecretStr

from authority.bootstrap.faults import DatabaseUnusable, naming
from authority.bootstrap.operator import migrate_database, open_operator
from authority.config import OperatorSettings
from authority.embedded import PostgresServer, start_postgres
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.postgres.migrate import MigrationFailed, migrate
from tests.integration.postgres.test_migrate import schema
from tests.real_servers import url_of
from tests.world.authority import Authority
from tests.world.stores import postgres_store
from tests.world.world import World, all_are

PASSWORD = "a/b@c:'%\\ é"
ESCAPED = "a%2Fb%40c%3A%27%25%5C%20%C3%A9"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PostgresServer]:
    """A cluster without any role of ours, and two owners with databases; neither is a superuser."""
    with start_postgres(tmp_path / "data", settings={"fsync": "off"}) as server:
        order(
            server.url,
            "create role owner login createrole password 'owner'",
            "create role other login createrole password 'other'",
            "create database first owner owner",
            "create database second owner owner",
            "create database third owner other",
        )
        yield server


def order(url: str, *statements: str) -> None:
    """Runs each statement by itself."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def url_for(server: PostgresServer, database: str, login: str) -> str:
    """The URL of the login, which is USER or USER:PASSWORD."""
    return f"postgresql://{login}@{url_of(server, database).rpartition('@')[2]}"


def settings_for(server: PostgresServer, database: str, owner: str, service: str | None) -> OperatorSettings:
    return OperatorSettings(
        admin_database_url=SecretStr(url_for(server, database, f"{owner}:{owner}")),
        database_url=SecretStr(url_for(server, database, service)) if service else None,
    )


@asynccontextmanager
async def world_of(settings: OperatorSettings, folder: Path) -> AsyncIterator[World]:
    """A world whose administrator is the owner and whose service logs in by its own URL."""
    assert settings.database_url
    assert settings.admin_database_url
    service, admin = settings.database_url.get_secret_value(), settings.admin_database_url.get_secret_value()
    async with AsyncExitStack() as stack:
        databases = {}
        for power in Power:
            url = admin if power is Power.ADMIN else service
            databases[power] = Database(await connect_pool(PoolSettings(url, power, 4)))
            stack.push_async_callback(databases[power].close)
        yield await World.begin(Authority.open(folder, partial(postgres_store, databases)))


async def rights_of(server: PostgresServer, database: str) -> list[str]:
    """All that there is in the schema, the rights on the schema itself, and who may become whom."""
    connection = await asyncpg.connect(url_of(server, database))
    try:
        members = await connection.fetch("select m::text from pg_auth_members m order by oid")
        acl = await connection.fetchval("select nspacl::text from pg_namespace where nspname = 'authority'")
        return [*await schema(connection), *(row["m"] for row in members), acl]
    finally:
        await connection.close()


async def test_an_owner_who_is_no_superuser_migrates_operates_and_is_served(
    server: PostgresServer, tmp_path: Path
) -> None:
    # given two databases of one owner, when each is migrated, and again, then only the first time changes anything
    for number, database in enumerate(("first", "second")):
        settings = settings_for(server, database, "owner", f"authority_service:{ESCAPED}")
        done = await asyncio.to_thread(migrate_database, settings)
        assert done.applied
        assert done.told == "authority_service may log in with the password of AUTHORITY_DATABASE_URL"
        before = await rights_of(server, database)
        assert (await asyncio.to_thread(migrate_database, settings)).applied == []
        assert await rights_of(server, database) == before

        # then the operator's acts are done by the owner, and commits by the service
        async with open_operator(settings) as operator:
            assert await operator.administration.list_issuer_keys() == []
        async with world_of(settings, tmp_path / str(number)) as world:
            await world.committed()
            assert await world.counts() == all_are(1)
        async with open_operator(settings) as operator:
            assert await operator.administration.list_issuer_keys()


async def test_an_owner_has_no_more_of_the_powers_than_was_granted(server: PostgresServer) -> None:
    # given a migrated database of an owner
    await asyncio.to_thread(migrate, url_for(server, "first", "owner:owner"))
    connection = await asyncpg.connect(url_of(server, "first"))

    # then the owner may take seven powers on and inherits none, and the committer can make nothing of its own
    rows = await connection.fetch(
        """
        select rolname, pg_has_role('owner', oid, 'SET') as becomes, pg_has_role('owner', oid, 'USAGE') as inherits
        from pg_roles where rolname like 'authority\\_%'
        """
    )
    assert {row["rolname"] for row in rows if row["becomes"]} == {
        "authority_aggregator",
        "authority_committer",
        "authority_eraser",
        "authority_spender",
        "authority_admin",
        "authority_relay",
        "authority_unvalidated",
    }
    assert not any(row["inherits"] for row in rows)
    assert not await connection.fetchval("select has_schema_privilege('authority_committer', 'authority', 'create')")
    owner = "select proowner::regrole::text from pg_proc where oid = 'authority.commit'::regproc"
    assert await connection.fetchval(owner) == "authority_committer"
    await connection.close()


async def test_any_other_login_is_given_the_powers_and_serves(server: PostgresServer, tmp_path: Path) -> None:
    # given a login of another name, first before it exists
    settings = settings_for(server, "first", "owner", "application:own")
    with pytest.raises(DatabaseUnusable, match="there is no role application: create it"):
        await asyncio.to_thread(migrate_database, settings)
    order(server.url, "create role application login password 'own'")

    # when it is migrated again, then that login serves
    done = await asyncio.to_thread(migrate_database, settings)
    assert (done.applied, done.service) == ([], "application")
    assert done.told == "application, the user of AUTHORITY_DATABASE_URL, may take on the powers of the service"
    async with world_of(settings, tmp_path / "keys") as world:
        await world.committed()
        assert await world.counts() == all_are(1)


async def test_who_let_nobody_in_is_told_what_to_set(server: PostgresServer) -> None:
    unset = settings_for(server, "first", "owner", None)
    without_password = settings_for(server, "first", "owner", "authority_service")

    assert (await asyncio.to_thread(migrate_database, unset)).told.startswith(
        "nobody was let in to serve: set AUTHORITY_DATABASE_URL to postgresql://authority_service:PASSWORD@"
    )
    assert "holds no password" in (await asyncio.to_thread(migrate_database, without_password)).told


async def test_a_service_that_was_not_let_in_is_told_the_remedy(server: PostgresServer) -> None:
    # given a migrated database to which the service has no login yet
    await asyncio.to_thread(migrate, url_for(server, "first", "owner:owner"))

    remedy = "has `authority migrate` been run on it with this same AUTHORITY_DATABASE_URL"
    with pytest.raises(DatabaseUnusable, match=remedy), naming("AUTHORITY_DATABASE_URL"):
        await asyncpg.connect(url_for(server, "first", f"authority_service:{ESCAPED}"))


async def test_roles_of_another_admin_are_told_with_who_has_to_grant_what(
    server: PostgresServer, tmp_path: Path
) -> None:
    # given a cluster whose roles were made by one owner
    order(server.url, "create role application login password 'own'")
    await asyncio.to_thread(migrate, url_for(server, "first", "owner:owner"))

    # when another owner migrates, then the sentence names the role that has to grant, and the statements
    with pytest.raises(MigrationFailed) as refused:
        await asyncio.to_thread(migrate, url_for(server, "third", "other:other"))
    told = str(refused.value)
    grants = [part + ";" for part in told.split(": ", 1)[1].split(";")[:-1]]
    assert "by another role (owner), which has to run once, or a superuser has to: GRANT" in told
    assert len(grants) == 7

    # when that role runs them, then the other owner migrates, and has to be helped to let the service in
    order(url_for(server, "first", "owner:owner"), *grants)
    settings = settings_for(server, "third", "other", f"authority_service:{ESCAPED}")
    with pytest.raises(DatabaseUnusable, match="ALTER ROLE authority_service LOGIN PASSWORD '…'") as unusable:
        await asyncio.to_thread(migrate_database, settings)
    assert PASSWORD not in "".join(traceback.format_exception(unusable.value))
    with pytest.raises(
        DatabaseUnusable, match=r'GRANT "authority_commit", .* TO "application" WITH INHERIT FALSE, SET'
    ):
        await asyncio.to_thread(migrate_database, settings_for(server, "third", "other", "application:own"))

    # when the service has its login, then nothing more is asked of anybody
    await asyncio.to_thread(migrate_database, settings_for(server, "first", "owner", f"authority_service:{ESCAPED}"))
    assert (await asyncio.to_thread(migrate_database, settings)).service == "authority_service"
    async with world_of(settings, tmp_path / "keys") as world:
        await world.committed()
        assert await world.counts() == all_are(1)


async def test_many_may_let_the_service_in_at_once(server: PostgresServer) -> None:
    settings = settings_for(server, "first", "owner", f"authority_service:{ESCAPED}")
    done = await asyncio.gather(*(asyncio.to_thread(migrate_database, settings) for _ in range(4)))
    assert {migrated.service for migrated in done} == {"authority_service"}
