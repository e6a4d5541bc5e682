"""What a tenant may know of others: figures that rest on many of them, and on none in particular (semantics §8)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from authority.domain import limits
from authority.domain.proposal import MemoryType
from authority.domain.references import Instant, TenantRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """Which tenants' memory is counted for whom, and who saw to it that nobody's privacy is harmed."""

    tenant: TenantRef
    """Who may ask for it, by a grant for `aggregate/NAME`."""
    name: str
    memory_namespace: str
    """Counted in each of the others."""
    of_tenants: tuple[TenantRef, ...]
    """Whose memory is counted: never the asking tenant's own, which would be a figure to reckon with."""
    least_tenants: int
    """A figure rests on so many of them, or is not told."""
    reviewed_by: str
    review: str
    """Where the review can be looked up."""


@dataclass(frozen=True, slots=True)
class AggregateCount:
    """About how many records of one type were committed in one month, in whole tens."""

    memory_type: MemoryType
    month: Instant
    """Its beginning, in UTC."""
    records: int


@dataclass(frozen=True, slots=True)
class CountedRecord:
    """What of a record an aggregate is made of."""

    tenant: TenantRef
    memory_type: MemoryType
    month: Instant


def aggregate_problem(aggregate: Aggregate) -> str:
    """What is wrong with it, in words for the operator; empty for nothing."""
    tenants, least = aggregate.of_tenants, aggregate.least_tenants
    if least < limits.AGGREGATE_LEAST_TENANTS:
        return f"a figure has to rest on {limits.AGGREGATE_LEAST_TENANTS} tenants at least"
    if len(set(tenants)) != len(tenants):
        return "a tenant is named twice"
    if aggregate.tenant in tenants:
        return f"{aggregate.tenant} cannot ask for figures that it is in: with its own it would know the others' better"
    if not least <= len(tenants) <= limits.AGGREGATE_TENANTS:
        return f"name {least} to {limits.AGGREGATE_TENANTS} tenants"
    if not aggregate.reviewed_by or not aggregate.review:
        return "say who reviewed it, and where that can be looked up"
    return ""


def would_tell_apart(new: Aggregate, made: Aggregate) -> bool:
    """Whether two aggregates of one asking tenant, subtracted from each other, would tell of a few tenants alone.

    So of one memory namespace they are over the same tenants, told from the same number on, or have none in common.
    Removed ones count as well: what was told is known.
    """
    if (new.tenant, new.memory_namespace) != (made.tenant, made.memory_namespace):
        return False
    if set(new.of_tenants).isdisjoint(made.of_tenants):
        return False
    return (set(new.of_tenants), new.least_tenants) != (set(made.of_tenants), made.least_tenants)


def count_coarsely(records: Iterable[CountedRecord], least_tenants: int) -> list[AggregateCount]:
    """The figures that may be told, by month and type; those that cannot be told are left out."""
    of_each: dict[tuple[Instant, MemoryType], dict[TenantRef, int]] = defaultdict(lambda: defaultdict(int))
    for record in records:
        of_each[record.month, record.memory_type][record.tenant] += 1
    figures = [
        AggregateCount(memory_type, month, coarse(list(counts.values()), least_tenants))
        for (month, memory_type), counts in of_each.items()
    ]
    return sorted((it for it in figures if it.records), key=lambda it: (it.month, it.memory_type.value))


def coarse(counts: Sequence[int], least_tenants: int) -> int:
    """The sum of what tenants have, each up to the one that has the least_tenants-th most, in whole tens.

    So one tenant's own count changes it no more than the others' would, and 0 says nothing but "too few".
    """
    if len(counts) < least_tenants:
        return 0
    most = sorted(counts, reverse=True)[least_tenants - 1]
    return sum(min(count, most) for count in counts) // limits.AGGREGATE_STEP * limits.AGGREGATE_STEP
