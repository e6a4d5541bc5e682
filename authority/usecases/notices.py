"""Wakes those who watch a tenant: one question for all of them, again and again while anybody watches."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextvars import Context

from authority.domain import limits
from authority.domain.references import SECOND, TenantRef
from authority.domain.revocation import AUTHORITY_ITSELF

Changed = Callable[[Sequence[TenantRef], str], Awaitable[tuple[frozenset[TenantRef], str]]]
"""As `AuditLog.changed`: every withdrawal has its audit event too."""


class Notices:
    """One for each process. It only hastens: who watches reads anew by itself when nothing wakes it for long.

    What concerns every tenant (an issuer key) wakes everybody. `every_s` is in seconds.
    """

    def __init__(self, changed: Changed, every_s: float = limits.WATCH_POLL_MS / SECOND) -> None:
        self._changed = changed
        self._every_s = every_s
        self._woken: defaultdict[TenantRef, set[asyncio.Event]] = defaultdict(set)
        self._asking: asyncio.Task[None] | None = None

    @contextlib.contextmanager
    def of(self, tenant: TenantRef) -> Iterator[asyncio.Event]:
        """An event that is set whenever there may be news of the tenant, while the block lasts."""
        woken = asyncio.Event()
        self._woken[tenant].add(woken)
        if self._asking is None or self._asking.done():
            # In a context of its own: the question belongs to no call.
            self._asking = asyncio.get_running_loop().create_task(self._ask_again_and_again(), context=Context())
        try:
            yield woken
        finally:
            self._woken[tenant].discard(woken)
            if not self._woken[tenant]:
                del self._woken[tenant]
            if not self._woken:
                self._asking.cancel()
                self._asking = None

    async def _ask_again_and_again(self) -> None:
        seen = ""
        while True:
            await asyncio.sleep(self._every_s)
            tenants = [*self._woken.keys() - {AUTHORITY_ITSELF}, AUTHORITY_ITSELF]
            try:
                changed, seen = await self._changed(tenants, seen)
            except Exception:  # noqa: BLE001 - whoever watches reads anew by itself, meets the same, and says so
                # What was missed is looked for once the database is back.
                seen = ""
                continue
            for tenant in tenants if AUTHORITY_ITSELF in changed else changed:
                for woken in self._woken.get(tenant, ()):
                    woken.set()
