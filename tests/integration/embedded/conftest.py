"""A data folder, and a PostgreSQL and a Valkey on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from authority.embedded import PostgresServer, ValkeyServer, start_postgres, start_valkey


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Not there yet, below folders that only we may enter."""
    tmp_path.chmod(0o700)
    return tmp_path / "data"


@pytest.fixture
def postgres(data: Path) -> Iterator[PostgresServer]:
    with start_postgres(data) as server:
        yield server


@pytest.fixture
def valkey(data: Path) -> Iterator[ValkeyServer]:
    with start_valkey(data) as server:
        yield server
