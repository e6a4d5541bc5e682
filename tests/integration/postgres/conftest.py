"""A world on a real PostgreSQL, and its superuser beside it, who breaks things and looks.

Each module has a database of its own; each test a tenant of its own, and leaves the schema as it was.
"""

from collections.abc import AsyncIterator, Mapping
from functools import partial

import asyncpg
import pytest

from authority.postgres.connections import Database, Power
from tests.integration.postgres.superuser import Superuser
from tests.world.authority import Authority
from tests.world.stores import connected, postgres_store
from tests.world.world import World


@pytest.fixture(scope="module")
async def databases(module_database: str) -> AsyncIterator[Mapping[Power, Database]]:
    async with connected(module_database) as databases:
        yield databases


@pytest.fixture(scope="module")
def authority(databases: Mapping[Power, Database], tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.open(tmp_path_factory.mktemp("keys"), partial(postgres_store, databases))


@pytest.fixture
async def world(authority: Authority) -> World:
    return await World.begin(authority)


@pytest.fixture
async def superuser(module_database: str) -> AsyncIterator[Superuser]:
    connection = await asyncpg.connect(module_database)
    yield connection
    await connection.close()
