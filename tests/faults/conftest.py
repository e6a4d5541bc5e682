"""An installation on servers of its own, which may be stopped, paused and broken, with one process of the service."""

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from authority.embedded import PostgresServer, ValkeyServer, start_postgres, start_valkey
from authority.postgres.migrate import migrate
from tests.installation.installation import Installation, Tenant
from tests.installation.processes import Processes, ServiceProcess
from tests.installation.storage import Storage, storage_at
from tests.installation.team import ONCE, Team, team_at
from tests.installation.wire import Wire, wire_to

SHORT_WAITS = {"deadline_cap_s": "2", "redis_wait_ms": "50"}
"""For servers that hang: how long a call may take at all, and how long Redis is waited for."""


@dataclass(frozen=True)
class Site:
    """What all tests of faults share. Each mends what it breaks."""

    postgres: PostgresServer
    valkey: ValkeyServer
    installation: Installation
    processes: Processes
    service: ServiceProcess


@pytest.fixture(scope="session")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    folder = tmp_path_factory.mktemp("faults")
    with ExitStack() as stack:
        postgres = stack.enter_context(start_postgres(folder / "servers", settings={"fsync": "off"}))
        valkey = stack.enter_context(start_valkey(folder / "servers"))
        migrate(postgres.url)
        installation = Installation(postgres.url, valkey.url, folder)
        await installation.furnish()
        processes = stack.enter_context(installation.processes())
        yield Site(postgres, valkey, installation, processes, await processes.serving(SHORT_WAITS))


@pytest.fixture
def whole(site: Site) -> Iterator[None]:
    """After the test the servers run again, and the invariant of the cases holds."""
    yield
    for server in (site.postgres, site.valkey):
        server.resume() if server.is_running else server.start()
    with storage_at(site.installation.admin_url) as storage:
        storage.assert_whole()


@pytest.fixture
def broken_storage(site: Site, whole: None) -> Iterator[Storage]:
    with storage_at(site.installation.admin_url) as storage:
        yield storage


@pytest.fixture
async def broken_tenant(site: Site, whole: None) -> Tenant:
    return await site.installation.tenant()


@pytest.fixture
async def patient(site: Site, broken_tenant: Tenant) -> AsyncIterator[Team]:
    """Asks again until its time is over."""
    async with team_at(site.service.address, broken_tenant) as team:
        yield team


@pytest.fixture
async def impatient(site: Site, broken_tenant: Tenant) -> AsyncIterator[Team]:
    """Takes the first answer."""
    async with team_at(site.service.address, broken_tenant, retries=ONCE) as team:
        yield team


@pytest.fixture
async def wire(site: Site, broken_tenant: Tenant) -> AsyncIterator[Wire]:
    """The service's own connection, byte for byte."""
    async with wire_to(site.service.address, broken_tenant["service"]) as wire:
        yield wire
