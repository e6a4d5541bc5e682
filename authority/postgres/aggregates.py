"""Figures of many tenants' memory, and who may ask for which."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.aggregate import Aggregate, AggregateCount
from authority.domain.proposal import MemoryType
from authority.domain.references import Instant, TenantRef
from authority.postgres import audit, rows
from authority.postgres.connections import Connection, Database
from authority.postgres.sql import query
from authority.postgres.withdrawing import lock_tenant
from authority.usecases.administer import AlreadyThere, NotThere, operator_event
from authority.usecases.administer_aggregates import ListedAggregate


@dataclass(frozen=True, slots=True)
class PostgresAggregates:
    """Implements `ports.Aggregates`. The function that counts can see nothing but what is counted by."""

    database: Database

    async def count(
        self, tenant: TenantRef, name: str, memory_namespace: str, now: Instant
    ) -> Sequence[AggregateCount] | None:
        """The figures, in order."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(query("count_aggregate"), str(tenant), name, memory_namespace, now)
        if not found:
            return None
        return [
            AggregateCount(MemoryType(row["memory_type"]), Instant(row["month"]), row["records"])
            for row in found
            if row["records"] is not None
        ]


@dataclass(frozen=True, slots=True)
class PostgresAggregateAdministration:
    """Implements `administer_aggregates.AggregateAdministration`."""

    database: Database

    async def add_aggregate(self, new: Aggregate, now: Instant) -> None:
        """Keeps it. Of two that are added at once the second sees the first: each is alone under the tenant's lock."""
        tenants = sorted(map(str, new.of_tenants))
        async with self.database.transaction(new.tenant) as connection:
            await lock_tenant(connection, new.tenant)
            beside = (str(new.tenant), new.memory_namespace, tenants, new.least_tenants)
            made = (new.reviewed_by, new.review, now)
            other = await connection.fetchval(query("aggregate_beside"), *beside)
            if other is not None and other != new.name:
                raise AlreadyThere(f"with aggregate {other} it would tell of a few tenants alone")
            if not await connection.fetchval(query("insert_aggregate"), str(new.tenant), new.name, *beside[1:], *made):
                raise AlreadyThere(f"aggregate {new.name} of {new.tenant} was made already")
            await _tell(connection, new.tenant, "aggregate.add", new.name, ("", "active"), now)

    async def remove_aggregate(self, tenant: TenantRef, name: str, now: Instant) -> None:
        """Ends it."""
        async with self.database.transaction(tenant) as connection:
            if not await connection.fetchval(query("remove_aggregate"), str(tenant), name, now):
                raise NotThere(f"no aggregate {name} of {tenant}")
            await _tell(connection, tenant, "aggregate.remove", name, ("active", "removed"), now)

    async def list_aggregates(self, tenant: TenantRef) -> Sequence[ListedAggregate]:
        """Every one, by name."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(query("aggregate_list"), str(tenant))
        return [_listed(row) for row in found]


async def _tell(
    connection: Connection, tenant: TenantRef, kind: str, name: str, states: tuple[str, str], now: Instant
) -> None:
    event = operator_event(tenant, kind, name, states, now)
    await audit.append(connection, event)


def _listed(row: rows.Row) -> ListedAggregate:
    aggregate = Aggregate(
        tenant=rows.tenant_ref(row["tenant"]),
        name=row["name"],
        memory_namespace=row["memory_namespace"],
        of_tenants=tuple(rows.tenant_ref(tenant) for tenant in row["of_tenants"]),
        least_tenants=row["least_tenants"],
        reviewed_by=row["reviewed_by"],
        review=row["review"],
    )
    return ListedAggregate(aggregate, is_active=row["state"] == "active", add_time=Instant(row["add_time"]))
