"""The port `Receipts`."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.plan import StoredReceipt
from authority.domain.references import PrincipalRef, TenantRef
from authority.inprocess.tables import Tables


@dataclass(frozen=True, slots=True)
class InProcessReceipts:
    """Implements `ports.Receipts`."""

    tables: Tables

    async def by_receipt(self, tenant: TenantRef, receipt_id: str) -> StoredReceipt | None:
        """The receipt with this id."""
        kept = self.tables.receipts.get((tenant, receipt_id))
        return kept.stored if kept else None

    async def by_record(self, tenant: TenantRef, record_id: str) -> StoredReceipt | None:
        """The receipt of this record."""
        record = self.tables.records.get((tenant, record_id))
        kept = record and self.tables.receipts.get((tenant, record.record.receipt_id))
        return kept.stored if kept else None

    async def by_key(self, tenant: TenantRef, holder: PrincipalRef, idempotency_key: str) -> StoredReceipt | None:
        """The receipt settled under the holder's key."""
        return self.tables.settled(tenant, holder, idempotency_key)

    async def page(
        self, tenant: TenantRef, *, memory_namespace: str, holder: PrincipalRef | None, after: str, size: int
    ) -> Sequence[StoredReceipt]:
        """Receipts in the order of their ids."""
        found = [
            kept.stored
            for (of_tenant, receipt_id), kept in sorted(self.tables.receipts.items(), key=lambda item: item[0][1])
            if of_tenant == tenant
            and receipt_id > after
            and kept.memory_namespace == memory_namespace
            and holder in (None, kept.claim.holder)
        ]
        return found[:size]
