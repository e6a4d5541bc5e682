"""Tells figures of other tenants' memory: the only thing that crosses tenants (semantics §8)."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.aggregate import AggregateCount
from authority.domain.identity import Caller
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.grants.read_under import Presented, ReadUnderGrant
from authority.usecases.ports import Aggregates, Clock


@dataclass(frozen=True, slots=True)
class AggregateRequest:
    """Which aggregate, over which memory namespace. There is nothing else to ask: no query, no filter."""

    name: str
    memory_namespace: str
    presented: Presented | None


@dataclass(frozen=True, slots=True)
class RecallAggregate:
    """Figures that an operator made for the caller's tenant, by a grant for `aggregate/NAME`."""

    reading: ReadUnderGrant
    aggregates: Aggregates
    clock: Clock

    async def __call__(self, caller: Caller, request: AggregateRequest) -> Sequence[AggregateCount] | Refusal:
        """The figures by month and type.

        Refusals: NOT_ALLOWED without a grant, whatever the caller's own rights; those of the grant; NOT_FOUND for an
        aggregate that is not the tenant's, was removed, or is over another memory namespace, alike.
        """
        reader = await self.reading.reader(
            caller, request.presented, request.memory_namespace, f"aggregate/{request.name}"
        )
        if isinstance(reader, Refusal):
            return reader
        if request.presented is None:
            return Refusal(Reason.NOT_ALLOWED)
        now = self.clock.now()
        found = await self.aggregates.count(caller.tenant, request.name, request.memory_namespace, now)
        return Refusal(Reason.NOT_FOUND) if found is None else found
