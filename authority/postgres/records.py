"""Reads learned memory. Visibility and validity are filtered inside the query (semantics §8)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from authority.domain.proposal import Provenance
from authority.domain.record import MemoryRecord
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.postgres import rows
from authority.postgres.connections import Database
from authority.postgres.proposals import FIRST_ID
from authority.postgres.sql import query


@dataclass(frozen=True, slots=True)
class PostgresRecords:
    """Implements `ports.Records`."""

    database: Database

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
        of = (str(tenant), record_id, str(reader), now, with_unvalidated)
        async with self.database.transaction(tenant, read_only=True) as connection:
            row = await connection.fetchrow(query("record_by_id"), *of)
        return rows.memory_record(row) if row else None

    async def provenances(
        self, tenant: TenantRef, record_ids: Sequence[str], reader: PrincipalRef, now: Instant
    ) -> Mapping[str, Provenance]:
        """The provenance of each that is visible to the reader, without its content."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(
                query("provenances_of_records"), str(tenant), list(record_ids), str(reader), now
            )
        return {str(row["record_id"]): Provenance(row["provenance"]) for row in found}

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
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(
                query("record_page"),
                str(tenant),
                memory_namespace,
                str(reader),
                now,
                after or FIRST_ID,
                size,
                with_unvalidated,
            )
        return [rows.memory_record(row) for row in found]
