"""Which database answers is known of each new connection, before it is used (case A17)."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from authority.embedded import PostgresServer, start_postgres
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.postgres.generation import GenerationWatch
from authority.postgres.migrate import migrate
from authority.usecases.ports import DatabaseGeneration, DependencyUnavailable
from tests.real_servers import new_database


@contextlib.asynccontextmanager
async def watched(url: str, watch: GenerationWatch) -> AsyncIterator[Database]:
    """A pool of one power over the database, watched."""
    database = Database(await connect_pool(PoolSettings(url, Power.READ, most=4, look=watch.look)))
    try:
        yield database
    finally:
        await database.close()


async def met(url: str) -> DatabaseGeneration:
    """Which database a connection to this URL leads to."""
    watch = GenerationWatch()
    async with watched(url, watch) as database:
        await database.ask("select 1")
    assert watch.current is not None
    return watch.current


async def test_a_connection_is_asked_once_and_others_of_one_server_say_the_same(postgres_url: str) -> None:
    watch, heard = GenerationWatch(), list[DatabaseGeneration]()
    watch.changed = heard.append
    with capture_logs() as log:
        async with watched(postgres_url, watch) as database:
            await asyncio.gather(*(database.ask("select pg_sleep(0.05)") for _ in range(4)))
    assert heard == [watch.current]
    assert log == []


async def test_two_databases_of_one_server_are_two(postgres_server: PostgresServer) -> None:
    with new_database(postgres_server) as one, new_database(postgres_server) as other:
        first, second = await met(one), await met(other)
    assert first.cluster == second.cluster
    assert first.incarnation != second.incarnation


@pytest.fixture
async def mortal(tmp_path: Path) -> AsyncIterator[PostgresServer]:
    """A server of its own, to be restarted."""
    with start_postgres(tmp_path / "data", settings={"fsync": "off"}) as server:
        await asyncio.to_thread(migrate, server.url)
        yield server


async def test_a17_whoever_is_answered_after_a_restart_knows_of_it(mortal: PostgresServer) -> None:
    # given a pool whose connections were made to a server that is then restarted
    watch, heard = GenerationWatch(), list[DatabaseGeneration]()
    async with watched(mortal.url, watch) as database:
        await database.ask("select 1")
        watch.changed = heard.append
        before = watch.current
        mortal.restart()

        # when somebody is answered again, then it was known before that it is another incarnation of the same database
        with capture_logs() as log:
            while not await answered(database):
                assert heard == []
        assert heard == [watch.current]
        assert before is not None
        assert heard[0].cluster == before.cluster
        assert heard[0].incarnation != before.incarnation
        assert [entry["event"] for entry in log] == ["database_restarted_or_replaced"]


async def answered(database: Database) -> bool:
    """Whether the database answers: the connections of before are found to be dead one by one."""
    try:
        await database.ask("select 1")
    except DependencyUnavailable:
        return False
    return True
