"""A small authority that listens, and a client of it that waits for nothing."""

from collections.abc import AsyncIterator

import pytest

from capability_authority import CapabilityAuthority
from tests.integration.client.exchange import IMPATIENT
from tests.integration.client.small_authority import SmallAuthority


@pytest.fixture
async def small_authority() -> AsyncIterator[SmallAuthority]:
    """Listens on a port of its own."""
    async with SmallAuthority().serving() as serving:
        yield serving


@pytest.fixture
async def client(small_authority: SmallAuthority) -> AsyncIterator[CapabilityAuthority]:
    """A registered principal's client; it retries at once."""
    async with CapabilityAuthority.connect(credentials=small_authority.register(), retries=IMPATIENT) as entered:
        yield entered
