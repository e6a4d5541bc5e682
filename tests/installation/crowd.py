"""Many connections to one address: with several workers behind it, each of them gets some."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from capability_authority.client import CapabilityAuthority, RetryPolicy
from tests.installation.installation import Tenant

CROWD: Final = 24
"""So many connections reach both of two workers, but once in eight million times."""


@asynccontextmanager
async def holders_at(
    address: str, tenant: Tenant, *, retries: RetryPolicy | None = None, within_s: float = 60.0, count: int = CROWD
) -> AsyncIterator[list[CapabilityAuthority]]:
    """The tenant's service, connected so many times; with the retries of who chooses none."""
    async with AsyncExitStack() as stack:
        clients = [
            CapabilityAuthority.connect(
                address, credentials=tenant["service"], retries=retries or RetryPolicy(), timeout=within_s
            )
            for _ in range(count)
        ]
        yield [await stack.enter_async_context(client) for client in clients]
