"""Every suite here runs on the dicts of the in-process adapters and on a real PostgreSQL."""

from collections.abc import AsyncIterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from authority.postgres.connections import Database, Power
from tests.world.authority import Authority
from tests.world.stores import OpenStore, connected, inprocess_store, postgres_store
from tests.world.world import World


@pytest.fixture(scope="session")
async def databases(postgres_url: str) -> AsyncIterator[Mapping[Power, Database]]:
    """A pool for each power on the database that all tests share."""
    async with connected(postgres_url) as databases:
        yield databases


@pytest.fixture(params=["inprocess", "postgres"])
def open_store(request: pytest.FixtureRequest) -> OpenStore:
    if request.param == "inprocess":
        return inprocess_store
    return partial(postgres_store, request.getfixturevalue("databases"))


@pytest.fixture
def authority(open_store: OpenStore, tmp_path: Path) -> Authority:
    return Authority.open(tmp_path / "keys", open_store)


@pytest.fixture
async def world(authority: Authority) -> World:
    return await World.begin(authority)
