"""A place where processes may be killed: an installation of its own, with one process that survives."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest

from authority.embedded import PostgresServer
from tests.installation.fixtures import new_installation
from tests.installation.installation import Installation, Tenant
from tests.installation.processes import Processes, ServiceProcess
from tests.installation.proxy import Proxy, proxy_to
from tests.installation.storage import Storage, storage_at
from tests.installation.team import Team, team_at

DOOMED = {"commit_connections": "1", "lease_ms": "6000", "drain_s": "3"}
"""One connection commits, so that the proxy holds up one call and nothing else; short waits keep the tests short."""


@dataclass(frozen=True)
class Site:
    """What all crash tests share."""

    installation: Installation
    storage: Storage
    proxy: Proxy
    """The way to PostgreSQL of the processes that are going to die."""
    processes: Processes
    """To start them in."""
    survivor: ServiceProcess


@pytest.fixture(scope="session")
async def site(
    postgres_server: PostgresServer, redis_url: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Site]:
    async with AsyncExitStack() as stack:
        folder = tmp_path_factory.mktemp("crash")
        installation = stack.enter_context(new_installation(postgres_server, redis_url, folder))
        await installation.furnish()
        proxy = await stack.enter_async_context(proxy_to(installation.admin_url))
        near = stack.enter_context(installation.processes())
        far = stack.enter_context(installation.processes(database_url=proxy.url))
        storage = stack.enter_context(storage_at(installation.admin_url))
        yield Site(installation, storage, proxy, far, await near.serving())


@pytest.fixture
async def crash_tenant(site: Site) -> Tenant:
    return await site.installation.tenant()


@pytest.fixture
async def doomed(site: Site) -> AsyncIterator[ServiceProcess]:
    """A process that may be killed. It has ended after the test, and so has whatever was started in its place."""
    try:
        yield await site.processes.serving(DOOMED)
    finally:
        await site.proxy.let_pass()
        site.processes.clear_away()


@pytest.fixture
async def doomed_team(doomed: ServiceProcess, crash_tenant: Tenant) -> AsyncIterator[Team]:
    """Calls the doomed process, after a first commit: its connection to the database is made."""
    async with team_at(doomed.address, crash_tenant) as team:
        await team.commit(await team.ready())
        yield team


@pytest.fixture
async def survivors(site: Site, crash_tenant: Tenant) -> AsyncIterator[Team]:
    """The same people, connected to the process that lives on."""
    async with team_at(site.survivor.address, crash_tenant) as team:
        yield team
