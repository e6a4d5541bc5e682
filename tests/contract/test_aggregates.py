"""The port `Aggregates` and its operator's side: what is told across tenants is figures, and nobody is told apart."""

from datetime import UTC, datetime

import pytest

from authority.domain.aggregate import AggregateCount
from authority.domain.proposal import MemoryType, Visibility
from authority.domain.references import DAY, Instant, TenantRef, after
from authority.usecases.administer import AlreadyThere, NotThere
from tests.contract.test_audit_log import listed as audited
from tests.world.aggregating import OTHERS, aggregate_of, aggregated
from tests.world.world import NAMESPACE, World, must


async def others(world: World, *records: int) -> list[World]:
    """So many neighbours, each with so many records."""
    found = [await world.neighbour() for _ in records]
    for other, number in zip(found, records, strict=True):
        for _ in range(number):
            await other.committed()
    return found


def month_of(instant: Instant) -> Instant:
    begin = datetime.fromtimestamp(instant / 1000, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return Instant(int(begin.timestamp()) * 1000)


async def counted(world: World, name: str = "trends", namespace: str = NAMESPACE) -> list[AggregateCount] | None:
    """What the aggregate tells now."""
    found = await world.authority.store.aggregates.count(world.tenant, name, namespace, world.now())
    return None if found is None else list(found)


async def test_adr328_05_figures_rest_on_many_tenants_and_on_none_in_particular(world: World) -> None:
    # given an aggregate over four tenants, two with more than the third, and one that keeps its private
    neighbours = await others(world, 9, 6, 9, 0)
    for _ in range(6):
        await neighbours[3].committed(visibility=Visibility.PRIVATE)
    for other in neighbours[:2]:
        await other.committed(memory_type=MemoryType.CRITIQUE)
    await aggregated(world, "trends", *(other.tenant for other in neighbours))
    month = month_of(world.now())
    # then nothing is told while the month is not over, nor before it has been over for a day
    assert await counted(world) == []
    told_from = month_of(after(month, 32 * DAY)) + DAY
    world.authority.clock.advance(told_from - world.now() - 1)
    assert await counted(world) == []
    # when it has, then each counts up to the third most, 6 + 6 + 6, in whole tens; of the type that two have nothing is
    # told
    world.authority.clock.advance(1)
    figures = [AggregateCount(MemoryType.DURABLE_FACT, month, 10)]
    assert await counted(world) == figures
    # and whatever comes later changes nothing of it
    for other in neighbours[:3]:
        await other.committed()
    must(await neighbours[0].revoke_record((await neighbours[0].committed())[1].receipt.record_id))
    assert await counted(world) == figures


async def test_adr328_05_an_aggregate_is_its_tenants_and_names_one_memory_namespace(world: World) -> None:
    # given an aggregate, then it answers under its name and memory namespace to its tenant alone, until it is removed
    neighbours = await others(world, 4, 4, 4)
    await aggregated(world, "trends", *(other.tenant for other in neighbours))
    world.authority.clock.advance(40 * DAY)
    assert await counted(world)
    assert await counted(world, namespace="ledger") is None
    assert await counted(world, "trend") is None
    for name in ("", "*", "trends/", "TRENDS", "trends,"):
        assert await counted(world, name) is None
    for other in neighbours:
        assert await counted(other) is None
    await world.authority.store.aggregate_administration.remove_aggregate(world.tenant, "trends", world.now())
    assert await counted(world) is None


async def test_two_aggregates_never_tell_of_a_few_tenants_when_they_are_subtracted(world: World) -> None:
    # given an aggregate, one that was removed, and another tenant's
    admin, more = world.authority.store.aggregate_administration, tuple(TenantRef("test", f"t{n}") for n in range(6))
    await aggregated(world, "trends")
    await aggregated(world, "old", *more[:3])
    await admin.remove_aggregate(world.tenant, "old", world.now())
    await aggregated(await world.neighbour(), "trends", *OTHERS, more[0])
    # then none may be made over some of the same tenants, with others, or without some, or told from another number on
    for tenants, least in (((*OTHERS, more[3]), 3), (more[1:4], 3), ((*OTHERS, *more), 3), ((*more[:3], more[5]), 4)):
        with pytest.raises(AlreadyThere, match="a few tenants"):
            await aggregated(world, "new", *tenants, least=least)
    # but over others, or over the same once more
    await aggregated(world, "apart", *more[3:])
    await aggregated(world, "same", *reversed(OTHERS))
    listed = await admin.list_aggregates(world.tenant)
    assert [(it.aggregate.name, it.is_active) for it in listed] == [
        ("apart", True), ("old", False), ("same", True), ("trends", True)
    ]  # fmt: skip
    assert set(listed[0].aggregate.of_tenants) == set(more[3:])


async def test_each_change_of_an_aggregate_is_told_once_and_a_name_is_used_once(world: World) -> None:
    admin = world.authority.store.aggregate_administration
    await aggregated(world)
    await admin.remove_aggregate(world.tenant, "trends", world.now())
    with pytest.raises(AlreadyThere, match="made already"):
        await admin.add_aggregate(aggregate_of(world, "trends", *OTHERS), world.now())
    for name in ("trends", "nothing"):
        with pytest.raises(NotThere):
            await admin.remove_aggregate(world.tenant, name, world.now())
    events, _ = await audited(world, oldest_first=True)
    told = [(it.kind, it.subject, it.previous_state, it.next_state) for it in (event.event for event in events)]
    assert [it for it in told if it[0].startswith("aggregate")] == [
        ("aggregate.add", "trends", "", "active"),
        ("aggregate.remove", "trends", "active", "removed"),
    ]
