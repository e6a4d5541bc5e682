"""After each test Redis is well, and the service knows."""

from collections.abc import AsyncIterator

import pytest

from tests.faults.conftest import Site
from tests.faults.redis_moods.scene import mend, reads_again
from tests.installation.team import Team


@pytest.fixture
async def mended(site: Site, patient: Team) -> AsyncIterator[None]:
    """After the test Redis is well, and the service knows."""
    yield
    mend(site)
    await reads_again(patient.service)
