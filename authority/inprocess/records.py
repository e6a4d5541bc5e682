"""The port `Records`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from authority.domain.proposal import Provenance
from authority.domain.record import MemoryRecord
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.inprocess.tables import Tables


@dataclass(frozen=True, slots=True)
class InProcessRecords:
    """Implements `ports.Records`."""

    tables: Tables

    async def get(
        self,
        tenant: TenantRef,
        record_id: str,
        reader: PrincipalRef,
        now: Instant,
        *,
        with_unvalidated: bool = False,
    ) -> MemoryRecord | None:
        """The record when it is visible to the reader."""
        visible = self.tables.recalled_records(tenant, reader, now, with_unvalidated=with_unvalidated)
        return next((it for it in visible if it.record_id == record_id), None)

    async def provenances(
        self, tenant: TenantRef, record_ids: Sequence[str], reader: PrincipalRef, now: Instant
    ) -> Mapping[str, Provenance]:
        """The provenance of each that is visible to the reader."""
        visible = self.tables.visible_records(tenant, reader, now)
        return {it.record_id: it.provenance for it in visible if it.record_id in record_ids}

    async def page(
        self,
        tenant: TenantRef,
        *,
        memory_namespace: str,
        reader: PrincipalRef,
        after: str,
        size: int,
        now: Instant,
        with_unvalidated: bool = False,
    ) -> Sequence[MemoryRecord]:
        """Visible records in the order of their ids."""
        found = [
            record
            for record in self.tables.recalled_records(tenant, reader, now, with_unvalidated=with_unvalidated)
            if record.memory_namespace == memory_namespace and record.record_id > after
        ]
        return found[:size]
