"""Which figures of others' memory a tenant may ask for: the operator's act on the server's own database."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from authority.domain.aggregate import Aggregate
from authority.domain.references import Instant, TenantRef


@dataclass(frozen=True, slots=True)
class ListedAggregate:
    """An aggregate and what became of it."""

    aggregate: Aggregate
    is_active: bool
    add_time: Instant


class AggregateAdministration(Protocol):
    """Each act is one transaction with its audit event."""

    async def add_aggregate(self, new: Aggregate, now: Instant) -> None:
        """Raises AlreadyThere for a name that was used, removed or not, and for what would tell tenants apart.

        What it is has been judged by `aggregate_problem`.
        """
        ...

    async def remove_aggregate(self, tenant: TenantRef, name: str, now: Instant) -> None:
        """From then on nobody is told its figures. Irreversible. Raises NotThere."""
        ...

    async def list_aggregates(self, tenant: TenantRef) -> Sequence[ListedAggregate]:
        """Every aggregate that the tenant may or might ask for, removed ones too, by name."""
        ...
