"""The port `PrincipalLinks`: what every store keeps to, and that SQL and the pure rule find the same person."""

from dataclasses import replace

import pytest

from authority.domain.audit import AuditFilter
from authority.domain.principal_link import same_person
from authority.domain.references import PrincipalRef
from authority.usecases.administer import AlreadyThere, NotThere
from authority.usecases.link_principals import PrincipalLinks
from tests.world.identities import link, link_of
from tests.world.world import Person, World


@pytest.fixture
def links(world: World) -> PrincipalLinks:
    return world.authority.store.principal_links


async def person_of(world: World, person: Person) -> set[str]:
    """Whom the store holds for this person, by name; the pure rule over its links must hold the same."""
    store = world.authority.store.principal_links
    found = await store.same_person(world.tenant, person.ref)
    assert found == same_person(person.ref, await store.links(world.tenant))
    return {ref.id for ref in found}


async def test_i16_a_person_is_whoever_links_lead_to_in_circles_too(world: World) -> None:
    # given nobody linked, then each is one person
    assert await person_of(world, world.user) == {"user"}
    # when three are linked in a chain, and then in a circle
    await link(world, world.user, world.admin)
    await link(world, world.service, world.admin)
    # then each of them is all three, and nobody else is
    assert await person_of(world, world.user) == {"user", "admin", "service"}
    assert await person_of(world, world.service) == {"user", "admin", "service"}
    await link(world, world.service, world.user)
    assert await person_of(world, world.admin) == {"user", "admin", "service"}
    assert await person_of(world, world.agent) == {"agent"}


async def test_i16_a_revoked_link_leads_nowhere_and_may_be_verified_anew(world: World, links: PrincipalLinks) -> None:
    # given two links, when the one between is revoked, by its two in any order
    await link(world, world.user, world.admin)
    await link(world, world.admin, world.service)
    await links.revoke(world.tenant, world.user.ref, world.admin.ref, world.now())
    # then the chain is cut there
    assert await person_of(world, world.user) == {"user"}
    assert await person_of(world, world.service) == {"admin", "service"}
    with pytest.raises(NotThere):
        await links.revoke(world.tenant, world.admin.ref, world.user.ref, world.now())
    # and when the two are verified again, both rows are kept
    await link(world, world.user, world.admin)
    assert await person_of(world, world.user) == {"user", "admin", "service"}
    assert [it.counts for it in await links.links(world.tenant)] == [False, True, True]


async def test_a_pair_is_linked_once_and_only_of_those_who_are_registered(world: World, links: PrincipalLinks) -> None:
    nobody = Person(replace(world.user.principal, ref=PrincipalRef("test", "nobody")), world.user.key)
    await link(world, world.user, world.agent)
    with pytest.raises(AlreadyThere):
        await link(world, world.agent, world.user)
    with pytest.raises(NotThere):
        await link(world, world.user, nobody)
    assert len(await links.links(world.tenant)) == 1


async def test_g01_links_of_another_tenant_lead_nowhere_here(world: World, links: PrincipalLinks) -> None:
    # given a neighbour in whose tenant the same names are linked
    neighbour = await world.neighbour()
    await links.add(link_of(neighbour, neighbour.user, neighbour.admin))
    # then nobody is linked here, and the neighbour's link cannot be revoked from here
    assert await person_of(world, world.user) == {"user"}
    assert await links.links(world.tenant) == []
    with pytest.raises(NotThere):
        await links.revoke(world.tenant, world.user.ref, world.admin.ref, world.now())


async def test_links_of_a_revoked_principal_count_on(world: World) -> None:
    await link(world, world.user, world.admin)
    await world.authority.store.administration.revoke_principal(world.tenant, world.admin.ref, world.now())
    assert await person_of(world, world.user) == {"user", "admin"}


async def test_links_are_told_in_the_audit_log(world: World, links: PrincipalLinks) -> None:
    await link(world, world.user, world.agent)
    await links.revoke(world.tenant, world.user.ref, world.agent.ref, world.now())
    wanted = AuditFilter(subject="test|agent test|user")
    told = await world.authority.store.audit_log.page(world.tenant, wanted, oldest_first=False, after="", size=9)
    assert [(it.event.kind, it.event.previous_state, it.event.next_state) for it in told] == [
        ("principal_link.revoke", "verified", "revoked"),
        ("principal_link.add", "", "verified"),
    ]
