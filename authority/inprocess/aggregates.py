"""The port `Aggregates`, and its operator's side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from authority.domain import limits
from authority.domain.aggregate import Aggregate, AggregateCount, CountedRecord, count_coarsely, would_tell_apart
from authority.domain.proposal import Visibility
from authority.domain.references import Instant, TenantRef
from authority.inprocess.tables import Tables
from authority.usecases.administer import AlreadyThere, NotThere, operator_event
from authority.usecases.administer_aggregates import ListedAggregate

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class InProcessAggregates:
    """Implements `ports.Aggregates` and `administer_aggregates.AggregateAdministration`."""

    tables: Tables

    async def count(
        self, tenant: TenantRef, name: str, memory_namespace: str, now: Instant
    ) -> Sequence[AggregateCount] | None:
        """The figures, in order."""
        kept = self.tables.aggregates.get((tenant, name))
        if kept is None or not kept.is_active or kept.aggregate.memory_namespace != memory_namespace:
            return None
        return count_coarsely(self._counted(kept.aggregate, now), kept.aggregate.least_tenants)

    def _counted(self, aggregate: Aggregate, now: Instant) -> Iterator[CountedRecord]:
        end = _month(Instant(now - limits.AGGREGATE_DELAY_MS))
        for (tenant, _), kept in self.tables.records.items():
            record = kept.record
            is_over = record.create_time < end and record.memory_namespace == aggregate.memory_namespace
            if is_over and tenant in aggregate.of_tenants and record.visibility is Visibility.WORKSPACE:
                yield CountedRecord(tenant, record.memory_type, _month(record.create_time))

    async def add_aggregate(self, new: Aggregate, now: Instant) -> None:
        """Keeps it, unless its name was used or it would tell tenants apart."""
        if (new.tenant, new.name) in self.tables.aggregates:
            raise AlreadyThere(f"aggregate {new.name} of {new.tenant} was made already")
        for (of_tenant, name), kept in sorted(self.tables.aggregates.items(), key=lambda item: item[0][1]):
            if of_tenant == new.tenant and would_tell_apart(new, kept.aggregate):
                raise AlreadyThere(f"with aggregate {name} it would tell of a few tenants alone")
        self.tables.aggregates[new.tenant, new.name] = ListedAggregate(new, is_active=True, add_time=now)
        self._tell(new.tenant, "aggregate.add", new.name, ("", "active"), now)

    async def remove_aggregate(self, tenant: TenantRef, name: str, now: Instant) -> None:
        """Ends it."""
        kept = self.tables.aggregates.get((tenant, name))
        if kept is None or not kept.is_active:
            raise NotThere(f"no aggregate {name} of {tenant}")
        self.tables.aggregates[tenant, name] = replace(kept, is_active=False)
        self._tell(tenant, "aggregate.remove", name, ("active", "removed"), now)

    async def list_aggregates(self, tenant: TenantRef) -> Sequence[ListedAggregate]:
        """Every one, by name."""
        found = [kept for (of_tenant, _), kept in self.tables.aggregates.items() if of_tenant == tenant]
        return sorted(found, key=lambda it: it.aggregate.name)

    def _tell(self, tenant: TenantRef, kind: str, subject: str, states: tuple[str, str], now: Instant) -> None:
        self.tables.tell(operator_event(tenant, kind, subject, states, now))


def _month(instant: Instant) -> Instant:
    """Its beginning in UTC."""
    day = (_EPOCH + timedelta(milliseconds=instant)).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return Instant((day - _EPOCH) // timedelta(milliseconds=1))
