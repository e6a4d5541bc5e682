"""A real PostgreSQL and a real Valkey for the whole test run: started when a test first asks, ended with the run."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from authority.embedded import PostgresServer, ValkeyServer, start_postgres, start_valkey
from authority.postgres.migrate import migrate

_TEMPLATE = "migrated"
_NUMBERS = count(1)


def url_of(server: PostgresServer, database: str) -> str:
    """The superuser's URL of another database of the server."""
    return f"{server.url.rpartition('/')[0]}/{database}"


@contextmanager
def new_database(server: PostgresServer, *, template: str = _TEMPLATE) -> Iterator[str]:
    """The URL of a database of its own: a copy of the template, dropped at the end with whoever is still connected."""
    name = f"test_{next(_NUMBERS)}"
    _order(server, "create database {} template {} strategy file_copy", name, template)
    try:
        yield url_of(server, name)
    finally:
        _order(server, "drop database {} with (force)", name)


@contextmanager
def postgres_to_copy(folder: Path) -> Iterator[PostgresServer]:
    """A server with a template that has the schema."""
    with start_postgres(folder / "data", settings={"fsync": "off"}) as server:
        _order(server, "create database {}", _TEMPLATE)
        migrate(url_of(server, _TEMPLATE))
        yield server


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """The server, with a template that has the schema. Tests that stop or break a server start their own."""
    with postgres_to_copy(tmp_path_factory.mktemp("postgres")) as server:
        yield server


@pytest.fixture(scope="session")
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A migrated database that all tests share: each under tenants of its own."""
    with new_database(postgres_server) as url:
        yield url


@pytest.fixture
def fresh_database(postgres_server: PostgresServer) -> Iterator[str]:
    """A migrated database of this test alone: it may change the schema."""
    with new_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="module")
def module_database(postgres_server: PostgresServer) -> Iterator[str]:
    """A migrated database of this module's tests alone."""
    with new_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="session")
def valkey_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyServer]:
    """The server. Tests that stop or break a server start their own."""
    with start_valkey(tmp_path_factory.mktemp("valkey") / "data") as server:
        yield server


@pytest.fixture(scope="session")
def redis_url(valkey_server: ValkeyServer) -> str:
    """The Valkey that all tests share: each under keys of its own."""
    return valkey_server.url


def _order(server: PostgresServer, statement: str, *names: str) -> None:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*(sql.Identifier(name) for name in names)))
