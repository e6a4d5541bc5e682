"""The port `Administration`: what every store keeps to."""

import pytest

from authority.domain.identity import RIGHTS_BY_KIND, PrincipalKind, Right
from authority.domain.proposal import Visibility
from authority.domain.record import MemoryNamespace, Mode
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.statement import KeyPurpose, KeyState
from authority.policy.bundle import bundle_version
from authority.signing.rotation import Scope, generate
from authority.usecases.administer import (
    Administration,
    AlreadyThere,
    CommitCounts,
    ListedPrincipal,
    NewMemoryNamespace,
    NewPrincipal,
    NotThere,
)
from capability_authority.offline import PrivateKey
from tests.world.world import KINDS, NAMESPACE, PERMIT_ALL, Person, World

ABSENT_KEY = PrivateKey.from_seed(bytes(32)).public_key.key_id


@pytest.fixture
def administration(world: World) -> Administration:
    return world.authority.store.administration


def registration(world: World, person: Person, name: str) -> NewPrincipal:
    """The person's key, registered under a name."""
    return NewPrincipal(
        tenant=world.tenant,
        ref=PrincipalRef("test", name),
        kind=PrincipalKind.USER,
        rights=frozenset({Right.READ}),
        key_id=person.key_id,
        public_key=person.key.public_key.raw,
    )


# --- principals ------------------------------------------------------------------------------------------------------


async def test_principals_are_listed_by_name_with_their_active_keys(
    world: World, administration: Administration
) -> None:
    listed = await administration.list_principals(world.tenant)
    assert [principal.ref.id for principal in listed] == sorted(kind.value for kind in KINDS)
    assert listed[0] == ListedPrincipal(
        tenant=world.tenant,
        ref=world.admin.ref,
        kind=PrincipalKind.ADMIN,
        rights=RIGHTS_BY_KIND[PrincipalKind.ADMIN],
        state="active",
        key_ids=(world.admin.key_id,),
    )


async def test_a_principal_is_registered_once(world: World, administration: Administration) -> None:
    # given the user, when another key is registered under its name, then it is refused and no key is left behind
    other = Person(world.user.principal, PrivateKey.generate())
    with pytest.raises(AlreadyThere):
        await administration.add_principal(registration(world, other, "user"), world.now())
    await administration.add_principal(registration(world, other, "user-2"), world.now())


async def test_a_key_has_one_owner(world: World, administration: Administration) -> None:
    # given the user's key, when another registers it, then it is refused and no principal is left behind
    with pytest.raises(AlreadyThere):
        await administration.add_principal(registration(world, world.user, "thief"), world.now())
    assert "thief" not in [principal.ref.id for principal in await administration.list_principals(world.tenant)]


async def test_a_revoked_principal_is_still_listed(world: World, administration: Administration) -> None:
    await administration.revoke_principal(world.tenant, world.agent.ref, world.now())
    listed = {principal.ref.id: principal for principal in await administration.list_principals(world.tenant)}
    assert listed["agent"].state == "revoked"
    assert listed["user"].state == "active"


async def test_a_revoked_key_is_listed_no_more(world: World, administration: Administration) -> None:
    await administration.revoke_principal_key(world.tenant, world.agent.key_id, world.now())
    listed = {principal.ref.id: principal for principal in await administration.list_principals(world.tenant)}
    assert (listed["agent"].state, listed["agent"].key_ids) == ("active", ())


async def test_what_is_revoked_or_never_was_cannot_be_revoked(world: World, administration: Administration) -> None:
    neighbour = await world.neighbour()
    await administration.revoke_principal(world.tenant, world.agent.ref, world.now())
    await administration.revoke_principal_key(world.tenant, world.agent.key_id, world.now())
    for ref in (world.agent.ref, PrincipalRef("test", "nobody")):
        with pytest.raises(NotThere):
            await administration.revoke_principal(world.tenant, ref, world.now())
    for key_id in (world.agent.key_id, ABSENT_KEY, neighbour.user.key_id):
        with pytest.raises(NotThere):
            await administration.revoke_principal_key(world.tenant, key_id, world.now())


async def test_g01_the_principals_of_an_unknown_tenant_are_none(administration: Administration) -> None:
    assert await administration.list_principals(TenantRef("test", "nowhere")) == []


# --- memory namespaces ------------------------------------------------------------------------------------------------


async def test_memory_namespaces_are_listed_by_name_as_they_were_made(
    world: World, administration: Administration
) -> None:
    # given one more, which says everything otherwise
    version = await world.load(PERMIT_ALL)
    await administration.add_namespace(
        NewMemoryNamespace(
            tenant=world.tenant,
            name="ledger",
            policy_version=version,
            mode=Mode.OBSERVE,
            privileged=True,
            least_profile="baseline",
            default_visibility=Visibility.PRIVATE,
        ),
        world.now(),
    )

    # then both are there, by name
    ledger, notes = await administration.list_namespaces(world.tenant)
    assert ledger == MemoryNamespace(
        tenant=world.tenant,
        name="ledger",
        mode=Mode.OBSERVE,
        privileged=True,
        least_profile="baseline",
        default_visibility=Visibility.PRIVATE,
        policy_version=version,
    )
    assert (notes.name, notes.mode) == (NAMESPACE, Mode.ENFORCE)


async def test_a_memory_namespace_is_made_once_and_only_under_a_loaded_policy(
    world: World, administration: Administration
) -> None:
    version = await world.load(PERMIT_ALL)
    with pytest.raises(AlreadyThere):
        await administration.add_namespace(
            NewMemoryNamespace(tenant=world.tenant, name=NAMESPACE, policy_version=version), world.now()
        )
    with pytest.raises(NotThere):
        await administration.add_namespace(
            NewMemoryNamespace(tenant=world.tenant, name="other", policy_version=bytes(32)), world.now()
        )
    assert [namespace.name for namespace in await administration.list_namespaces(world.tenant)] == [NAMESPACE]


async def test_the_mode_is_set_where_there_is_a_memory_namespace(world: World, administration: Administration) -> None:
    await administration.set_mode(world.tenant, NAMESPACE, Mode.LEGACY, world.now())
    assert [namespace.mode for namespace in await administration.list_namespaces(world.tenant)] == [Mode.LEGACY]
    with pytest.raises(NotThere):
        await administration.set_mode(world.tenant, "other", Mode.LEGACY, world.now())


# --- policy ----------------------------------------------------------------------------------------------------------


async def test_a_policy_is_loaded_once(world: World, administration: Administration) -> None:
    # given a bundle that no other test loads
    bundle = PERMIT_ALL + f"// of {world.tenant}: ä\n"
    version = bundle_version(bundle)
    await administration.load_policy(version, bundle, world.now())

    # when it is loaded again later, then nothing changes
    world.authority.clock.advance(1_000)
    await administration.load_policy(version, bundle, world.now())
    loaded = [policy for policy in await administration.list_policies() if policy.version == version]
    assert [(policy.size, policy.load_time) for policy in loaded] == [(len(bundle.encode()), world.now() - 1_000)]


async def test_only_a_loaded_policy_becomes_active(world: World, administration: Administration) -> None:
    version = await world.load(PERMIT_ALL)
    await administration.activate_policy(world.tenant, NAMESPACE, version, world.now())
    assert [it.policy_version for it in await administration.list_namespaces(world.tenant)] == [version]
    with pytest.raises(NotThere):
        await administration.activate_policy(world.tenant, NAMESPACE, bytes(32), world.now())
    with pytest.raises(NotThere):
        await administration.activate_policy(world.tenant, "other", version, world.now())
    assert [it.policy_version for it in await administration.list_namespaces(world.tenant)] == [version]


# --- issuer keys ------------------------------------------------------------------------------------------------------


async def test_e09_a_new_issuer_key_retires_the_one_of_its_purpose_and_scope_alone(
    world: World, administration: Administration
) -> None:
    # given a tenant's keys
    mine = {key.purpose: key for key in await administration.list_issuer_keys() if key.tenant == world.tenant}
    neighbour = await world.neighbour()

    # when a new receipt key is added for the tenant
    key = generate(world.authority.folder, KeyPurpose.RECEIPT, world.now(), Scope(world.tenant))
    assert await administration.add_issuer_key(key, world.now()) == [mine[KeyPurpose.RECEIPT].key_id]

    # then its old receipt key signs nothing new, and all others do
    states = {key.key_id: key.state for key in await administration.list_issuer_keys()}
    assert states[mine[KeyPurpose.RECEIPT].key_id] is KeyState.RETIRING
    assert states[key.key_id] is KeyState.ACTIVE
    others = [key for key in neighbour.authority.ring.published() if key.key_id != mine[KeyPurpose.RECEIPT].key_id]
    assert {states[key.key_id] for key in others} == {KeyState.ACTIVE}


async def test_an_issuer_key_is_revoked_once(world: World, administration: Administration) -> None:
    key = world.authority.ring.published()[0]
    await administration.revoke_issuer_key(key.key_id, None, world.now())
    for key_id in (key.key_id, ABSENT_KEY):
        with pytest.raises(NotThere):
            await administration.revoke_issuer_key(key_id, None, world.now())
    states = {key.key_id: (key.state, key.compromised_since) for key in await administration.list_issuer_keys()}
    assert states[key.key_id] == (KeyState.REVOKED, None)


# --- counts ----------------------------------------------------------------------------------------------------------


async def test_the_four_counts_are_of_one_tenant(world: World, administration: Administration) -> None:
    # given two commits here, one next door, and a capability that nobody used
    neighbour = await world.neighbour()
    for tenant in (world, world, neighbour):
        await tenant.committed()
    await world.issued()

    # then each tenant has its own, and the four agree
    counts = await administration.count_commits(world.tenant)
    assert counts == CommitCounts(consumed_capabilities=2, receipts=2, records=2, events=2)
    assert counts.agree
    assert (await administration.count_commits(neighbour.tenant)).records == 1
