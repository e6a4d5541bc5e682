"""The port `Records`."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.record import MemoryRecord, is_visible
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.inprocess.tables import Tables


@dataclass(frozen=True, slots=True)
class InProcessRecords:
    """Implements `ports.Records`."""

    tables: Tables

    async def get(self, tenant: TenantRef, record_id: str, reader: PrincipalRef, now: Instant) -> MemoryRecord | None:
        """The record when it is visible to the reader."""
        living = self.tables.living_records(tenant)
        return next((it for it in living if it.record_id == record_id and is_visible(it, reader, now)), None)

    async def page(
        self,
        tenant: TenantRef,
        *,
        memory_namespace: str,
        reader: PrincipalRef,
        after: str,
        size: int,
        now: Instant,
    ) -> Sequence[MemoryRecord]:
        """Visible records in the order of their ids."""
        found = [
            record
            for record in self.tables.living_records(tenant)
            if record.memory_namespace == memory_namespace
            and record.record_id > after
            and is_visible(record, reader, now)
        ]
        return found[:size]
