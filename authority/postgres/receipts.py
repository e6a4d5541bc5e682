"""Reads commit receipts, and tells of none that a new primary might lack."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.plan import StoredReceipt
from authority.domain.references import PrincipalRef, TenantRef
from authority.postgres import rows
from authority.postgres.connections import Database, await_standby
from authority.postgres.proposals import FIRST_ID
from authority.postgres.sql import query


@dataclass(frozen=True, slots=True)
class PostgresReceipts:
    """Implements `ports.Receipts`."""

    database: Database

    async def by_receipt(self, tenant: TenantRef, receipt_id: str) -> StoredReceipt | None:
        """The receipt with this id."""
        return await self._one(tenant, "receipt_by_id", receipt_id)

    async def by_record(self, tenant: TenantRef, record_id: str) -> StoredReceipt | None:
        """The receipt of this record."""
        return await self._one(tenant, "receipt_by_record", record_id)

    async def by_key(self, tenant: TenantRef, holder: PrincipalRef, idempotency_key: str) -> StoredReceipt | None:
        """The receipt settled under the holder's key."""
        return await self._one(tenant, "receipt_by_idempotency_key", str(holder), idempotency_key)

    async def page(
        self, tenant: TenantRef, *, memory_namespace: str, holder: PrincipalRef | None, after: str, size: int
    ) -> Sequence[StoredReceipt]:
        """Receipts in the order of their ids."""
        async with self.database.transaction(tenant) as connection:
            found = await connection.fetch(
                query("receipt_page"),
                str(tenant),
                memory_namespace,
                str(holder) if holder else None,
                after or FIRST_ID,
                size,
            )
            await await_standby(connection)
        return [rows.stored_receipt(row) for row in found]

    async def _one(self, tenant: TenantRef, name: str, *key: str) -> StoredReceipt | None:
        async with self.database.transaction(tenant) as connection:
            row = await connection.fetchrow(query(name), str(tenant), *key)
            await await_standby(connection)
        return rows.stored_receipt(row) if row else None
