"""The port `Registry`, and the issuer keys: what every store keeps to."""

import asyncio
from dataclasses import replace

import pytest

from authority.domain.credential import Credential, CredentialForm
from authority.domain.identity import PrincipalKind, RegisteredKey, Right
from authority.domain.references import DAY, PrincipalRef, after
from authority.domain.statement import KeyPurpose, KeyState
from authority.signing.rotation import Scope, generate
from authority.usecases.administer import AlreadyThere, NewPrincipal, NotThere
from tests.world.identities import TOKEN, bind
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


async def test_a_certificate_is_a_holders_and_a_token_is_nobodys_to_be_bound_to(world: World) -> None:
    # given a service with a certificate and a token
    registry, service = world.authority.store.registry, world.service
    certificate = Credential(CredentialForm.SPIFFE, "spiffe://harbour.example/loader")
    for credential in (certificate, TOKEN):
        await bind(world, service, credential)
    # then both say who calls, and only the certificate is a key of its holder
    for credential in (certificate, TOKEN):
        assert await registry.owner(world.tenant, credential.id) == RegisteredKey(service.principal, credential.id, b"")
    assert await registry.active_key(world.tenant, service.ref, certificate.id) is not None
    assert await registry.active_key(world.tenant, service.ref, TOKEN.id) is None
    assert await registry.active_key(world.tenant, world.user.ref, certificate.id) is None
    # and the key that signs is known by itself, too
    found = await registry.owner(world.tenant, service.key_id)
    assert found == RegisteredKey(service.principal, service.key_id, service.key.public_key.raw)


async def test_a_credential_has_one_owner_for_ever(world: World) -> None:
    store = world.authority.store
    for credential in (Credential(CredentialForm.SUBJECT, "CN=loader"), TOKEN):
        await bind(world, world.service, credential)
        with pytest.raises(AlreadyThere):
            await bind(world, world.user, credential)
        await store.administration.revoke_principal_key(world.tenant, credential.id, world.now())
        for person in (world.user, world.service):
            with pytest.raises(AlreadyThere):
                await bind(world, person, credential)
        assert await store.registry.owner(world.tenant, credential.id) is None
    # and of each is told, whatever became of it
    told = {it.credential_id: (it.principal, it.state) for it in await store.credentials.credentials(world.tenant)}
    assert told[TOKEN.id] == (world.service.ref, "revoked")
    assert told[world.user.key_id] == (world.user.ref, "active")


async def test_nothing_is_bound_to_whoever_is_not_there(world: World) -> None:
    await world.authority.store.administration.revoke_principal(world.tenant, world.user.ref, world.now())
    with pytest.raises(NotThere):
        await bind(world, world.user, TOKEN)


async def test_a_principal_may_begin_with_what_it_shows(world: World) -> None:
    store, ref = world.authority.store, PrincipalRef("test", "shower")
    new = NewPrincipal(
        tenant=world.tenant, ref=ref, kind=PrincipalKind.SERVICE, rights=frozenset({Right.READ}), credential=TOKEN
    )
    await store.administration.add_principal(new, world.now())
    found = await store.registry.owner(world.tenant, TOKEN.id)
    assert found is not None
    assert found.principal.ref == ref
    # but not with another's, and then it is not there at all
    other = replace(new, ref=PrincipalRef("test", "other"))
    with pytest.raises(AlreadyThere):
        await store.administration.add_principal(other, world.now())
    assert await store.registry.principal(world.tenant, other.ref) is None


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
