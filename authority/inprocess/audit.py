"""The port `AuditLog`: nothing runs beside anything here, so that a position is a number of events."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain import limits
from authority.domain.audit import AuditFilter, ToldEvent
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal, malformed
from authority.inprocess.tables import Tables
from authority.usecases.ports import AuditNews


@dataclass(frozen=True, slots=True)
class InProcessAuditLog:
    """Implements `ports.AuditLog`."""

    tables: Tables

    async def page(
        self, tenant: TenantRef, wanted: AuditFilter, *, oldest_first: bool, after: str, size: int
    ) -> Sequence[ToldEvent]:
        """Events by their ids, rising or falling."""
        found = self._found(tenant, wanted)
        if oldest_first:
            return [told for told in found if told.event_id > int(after or 0)][:size]
        return [told for told in reversed(found) if not after or told.event_id < int(after)][:size]

    async def now(self, tenant: TenantRef) -> str:  # noqa: ARG002 - one log for all tenants
        """The position after everything."""
        return str(len(self.tables.audit))

    async def news(self, tenant: TenantRef, wanted: AuditFilter, after: str, size: int) -> AuditNews | Refusal:
        """What came after the position. There is no clock here that could say anything against the service's."""
        if after and int(after) > len(self.tables.audit):
            return malformed("cursor", "must be the cursor of the same query on this database")
        new = [told for told in self._found(tenant, wanted) if told.event_id > int(after or 0)]
        told = new[:size]
        has_more = len(told) == size
        return AuditNews(
            told, str(told[-1].event_id if has_more else len(self.tables.audit)), has_more, Instant(limits.LATEST_MS)
        )

    async def changed(self, tenants: Sequence[TenantRef], since: str) -> tuple[frozenset[TenantRef], str]:
        """Whose events came since."""
        now = str(len(self.tables.audit))
        new = {event.tenant for event in self.tables.audit[int(since) :]} if since else set(tenants)
        return frozenset(new.intersection(tenants)), now

    def _found(self, tenant: TenantRef, wanted: AuditFilter) -> list[ToldEvent]:
        return [
            ToldEvent(number, event)
            for number, event in enumerate(self.tables.audit, start=1)
            if event.tenant == tenant and wanted.takes(event)
        ]
