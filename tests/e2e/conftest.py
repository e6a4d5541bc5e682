"""Connections on which tests send bytes of their own."""

from collections.abc import AsyncIterator

import pytest

from tests.installation.installation import Tenant
from tests.installation.processes import ServiceProcess
from tests.installation.wire import Wire, wire_to


@pytest.fixture
async def proposer(services: tuple[ServiceProcess, ...], tenant: Tenant) -> AsyncIterator[Wire]:
    """The tenant's user, who proposes."""
    async with wire_to(services[0].address, tenant["user"]) as wire:
        yield wire


@pytest.fixture
async def holder(services: tuple[ServiceProcess, ...], tenant: Tenant) -> AsyncIterator[Wire]:
    """The tenant's service, which holds capabilities."""
    async with wire_to(services[0].address, tenant["service"]) as wire:
        yield wire
