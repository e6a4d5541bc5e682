"""One installation with two processes of the service for the whole test run: for tests that break neither.

Tests that kill, pause or change what all share make their own, by `new_installation`.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from authority.embedded import PostgresServer
from tests.installation.installation import Installation, Tenant
from tests.installation.processes import ServiceProcess
from tests.installation.storage import Storage, storage_at
from tests.installation.team import Team, team_at
from tests.real_servers import new_database


@contextmanager
def new_installation(postgres: PostgresServer, redis_url: str, folder: Path) -> Iterator[Installation]:
    """A migrated database of its own on the server; `furnish` it before use."""
    with new_database(postgres) as url:
        yield Installation(url, redis_url, folder)


@pytest.fixture(scope="session")
async def installation(
    postgres_server: PostgresServer, redis_url: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Installation]:
    """Furnished, and shared: each test has a tenant of its own."""
    with new_installation(postgres_server, redis_url, tmp_path_factory.mktemp("installation")) as made:
        await made.furnish()
        yield made


@pytest.fixture(scope="session")
async def services(installation: Installation) -> AsyncIterator[tuple[ServiceProcess, ...]]:
    """Two processes of the service, which all tests share; the first shows metrics, so that nothing minds it."""
    with installation.processes() as processes:
        started = processes.start({"metrics_listen": "127.0.0.1:0"}), processes.start()
        for process in started:
            await process.serving()
        yield started


@pytest.fixture(scope="session")
def storage(installation: Installation) -> Iterator[Storage]:
    with storage_at(installation.admin_url) as storage:
        yield storage


@pytest.fixture
async def tenant(installation: Installation) -> Tenant:
    return await installation.tenant()


@pytest.fixture
async def team(services: tuple[ServiceProcess, ...], tenant: Tenant) -> AsyncIterator[Team]:
    async with team_at(services[0].address, tenant) as team:
        yield team


@pytest.fixture
async def team_elsewhere(services: tuple[ServiceProcess, ...], tenant: Tenant) -> AsyncIterator[Team]:
    """The same people, connected to the other process."""
    async with team_at(services[1].address, tenant) as team:
        yield team
