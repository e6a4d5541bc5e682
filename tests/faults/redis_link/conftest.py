"""A Valkey of each test's own, which it may break, and a link to it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from authority.embedded import ValkeyServer, start_valkey
from tests.faults.redis_link.scene import HASTY
from tests.redis_room import Room, operator_at, room_at


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[ValkeyServer]:
    with start_valkey(tmp_path / "data") as server:
        yield server


@pytest.fixture
async def room(valkey: ValkeyServer) -> AsyncIterator[Room]:
    async with room_at(valkey.url) as room:
        yield room


@pytest.fixture
async def hasty_room(valkey: ValkeyServer) -> AsyncIterator[Room]:
    """For a server that will hang."""
    async with room_at(valkey.url, settings=HASTY) as room:
        yield room


@pytest.fixture
async def operator(valkey: ValkeyServer) -> AsyncIterator[Redis]:
    async with operator_at(valkey.url) as client:
        yield client
