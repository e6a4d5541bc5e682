"""The port `RefusalCounts`: what every store keeps to."""

from authority.domain.references import SECOND, Instant
from authority.domain.tally import REPLAYED, Counted, minute_of
from authority.usecases.administer import ListedRefusals
from tests.world.clock import LATE
from tests.world.world import World


async def test_what_is_counted_is_added_up_by_principal_and_reason(world: World) -> None:
    # given refusals of two minutes, and some of principals that are told together
    minute = minute_of(LATE)
    later = Instant(minute + 60 * SECOND)
    service, agent = world.service.ref, world.agent.ref
    expired, again = Counted(world.tenant, minute, service, "EXPIRED"), Counted(world.tenant, later, service, "EXPIRED")
    replayed, crowd = Counted(world.tenant, minute, agent, REPLAYED), Counted(world.tenant, minute, None, "EXPIRED")
    store = world.authority.store

    # when they are added in parts
    await store.refusals.add({expired: 2, replayed: 1})
    await store.refusals.add({expired: 1, again: 4, crowd: 9})

    # then each is found once, the last first
    assert await store.administration.list_refusals(world.tenant, minute) == [
        ListedRefusals(principal=service, reason="EXPIRED", count=7, first_minute=minute, last_minute=later),
        ListedRefusals(principal=None, reason="EXPIRED", count=9, first_minute=minute, last_minute=minute),
        ListedRefusals(principal=agent, reason=REPLAYED, count=1, first_minute=minute, last_minute=minute),
    ]
    since = await store.administration.list_refusals(world.tenant, later)
    assert [found.count for found in since] == [4]


async def test_g02_the_counts_of_a_tenant_are_its_own(world: World) -> None:
    neighbour, minute = await world.neighbour(), minute_of(LATE)
    theirs = Counted(neighbour.tenant, minute, neighbour.agent.ref, "NOT_FOUND")
    ours = Counted(world.tenant, minute, world.agent.ref, "NOT_FOUND")
    await world.authority.store.refusals.add({theirs: 3, ours: 1})
    found = await world.authority.store.administration.list_refusals(world.tenant, minute)
    assert [listed.count for listed in found] == [1]
