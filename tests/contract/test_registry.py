"""The port `Registry`, and the issuer keys: what every store keeps to."""

import asyncio
from dataclasses import replace

from authority.domain.identity import PrincipalKind, RegisteredKey, Right
from authority.domain.references import DAY, PrincipalRef, after
from authority.domain.statement import KeyPurpose, KeyState
from authority.signing.rotation import Scope, generate
from tests.world.world import World


async def test_an_active_key_names_its_principal(world: World) -> None:
    # given a registered service, when its key is looked up, then everything that was registered is there
    service, store = world.service, world.authority.store
    found = await store.registry.active_key(world.tenant, service.ref, service.key_id)
    assert found == RegisteredKey(service.principal, service.key_id, service.key.public_key.raw)
    assert await store.registry.principal(world.tenant, service.ref) == service.principal


async def test_rights_are_those_that_were_given(world: World) -> None:
    only_read = await world.register(PrincipalKind.SERVICE, "reader", frozenset({Right.READ}))
    found = await world.authority.store.registry.principal(world.tenant, only_read.ref)
    assert found == only_read.principal
    assert not found.may(Right.COMMIT)


async def test_a_key_is_nobody_elses(world: World) -> None:
    # given the user's key, when it is looked up as the service's, then it is not there
    registry = world.authority.store.registry
    assert await registry.active_key(world.tenant, world.service.ref, world.user.key_id) is None


async def test_a_revoked_key_is_absent_and_its_principal_is_not(world: World) -> None:
    # given a service whose key was revoked
    store, service = world.authority.store, world.service
    await store.administration.revoke_principal_key(world.tenant, service.key_id, world.now())

    # then the key is absent from the next call on
    assert await store.registry.active_key(world.tenant, service.ref, service.key_id) is None
    assert await store.registry.principal(world.tenant, service.ref) == service.principal


async def test_a_revoked_principal_is_absent_with_all_its_keys(world: World) -> None:
    store, service = world.authority.store, world.service
    await store.administration.revoke_principal(world.tenant, service.ref, world.now())
    assert await store.registry.principal(world.tenant, service.ref) is None
    assert await store.registry.active_key(world.tenant, service.ref, service.key_id) is None


async def test_g02_another_tenants_principal_and_key_are_absent(world: World) -> None:
    # given a neighbour whose service has the same name
    neighbour, registry = await world.neighbour(), world.authority.store.registry
    assert neighbour.service.ref == world.service.ref

    # then each tenant sees its own key alone
    assert await registry.active_key(world.tenant, world.service.ref, neighbour.service.key_id) is None
    assert await registry.active_key(neighbour.tenant, world.service.ref, world.service.key_id) is None


async def test_g02_what_is_asked_at_once_gets_each_its_own_answer(world: World) -> None:
    # given two tenants whose services have one name, and a key that was revoked
    neighbour, store = await world.neighbour(), world.authority.store
    await store.administration.revoke_principal_key(neighbour.tenant, neighbour.user.key_id, world.now())
    people = [world.service, neighbour.service, world.user, neighbour.user, world.service]

    # when all are looked up at once, each in its own tenant and in the other one
    tenants = [world.tenant, neighbour.tenant, world.tenant, neighbour.tenant, neighbour.tenant]
    lookups = (
        store.registry.active_key(tenant, person.ref, person.key_id)
        for tenant, person in zip(tenants, people, strict=True)
    )
    found = await asyncio.gather(*lookups)

    # then each gets what it alone would get
    assert [key and (key.principal, key.key_id) for key in found] == [
        *((person.principal, person.key_id) for person in people[:3]),
        None,
        None,
    ]


async def test_equal_names_in_two_namespaces_are_two_principals(world: World) -> None:
    registry = world.authority.store.registry
    assert await registry.principal(world.tenant, PrincipalRef("other", world.service.ref.id)) is None


async def test_issuer_keys_are_loaded_as_they_were_added_oldest_first(world: World) -> None:
    # given a key that is narrowed to one memory namespace, added a day later
    authority = world.authority
    before = [key for key in await authority.store.issuer_keys.load() if key.tenant == world.tenant]
    authority.clock.advance(DAY)
    key = generate(authority.folder, KeyPurpose.GRANT, world.now(), Scope(world.tenant, "notes"))
    await authority.store.administration.add_issuer_key(key, world.now())

    # then it is last, whole and active, and the others are as they were
    loaded = [key for key in await authority.store.issuer_keys.load() if key.tenant == world.tenant]
    assert loaded == [*before, key]


async def test_a_revoked_issuer_key_says_since_when(world: World) -> None:
    authority = world.authority
    key, *_ = [key for key in await authority.store.issuer_keys.load() if key.tenant == world.tenant]
    since = after(world.now(), -DAY)
    await authority.store.administration.revoke_issuer_key(key.key_id, since, world.now())
    loaded = await authority.store.issuer_keys.load()
    assert replace(key, state=KeyState.REVOKED, compromised_since=since) in loaded
