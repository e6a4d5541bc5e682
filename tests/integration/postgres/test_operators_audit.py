"""What an operator changes is told with the state before and after; what changes nothing is not told (semantics §9)."""

import hashlib

from authority.domain.record import Mode
from authority.domain.statement import KeyPurpose
from authority.signing.rotation import Scope, generate
from tests.integration.postgres.superuser import Superuser
from tests.world.world import World

ALLOW_ALL = '@id("all")\npermit (principal, action, resource);\n'


async def told(superuser: Superuser, subject: str) -> list[tuple[str, str, str]]:
    """Kind, previous and next state of the events of a subject, in their order."""
    found = await superuser.fetch(
        "select kind, previous_state, next_state from authority.audit_event where subject = $1 order by event_id",
        subject,
    )
    return [tuple(row) for row in found]


async def test_a_mode_is_told_with_the_one_before(world: World, superuser: Superuser) -> None:
    administration = world.authority.store.administration
    [namespace, *_] = await administration.list_namespaces(world.tenant)
    await administration.set_mode(world.tenant, namespace.name, Mode.OBSERVE, world.now())
    found = await superuser.fetch(
        "select previous_state, next_state from authority.audit_event"
        " where tenant = $1 and kind = 'memory_namespace.mode'",
        str(world.tenant),
    )
    assert [tuple(row) for row in found] == [("enforce", "observe")]


async def test_a_policy_is_told_once_and_its_activation_with_the_one_before(world: World, superuser: Superuser) -> None:
    administration = world.authority.store.administration
    [namespace, *_] = await administration.list_namespaces(world.tenant)
    bundle = ALLOW_ALL + f"// of {world.tenant}\n"
    version = hashlib.sha256(bundle.encode()).digest()
    await administration.load_policy(version, bundle, world.now())
    await administration.load_policy(version, bundle, world.now())
    await administration.activate_policy(world.tenant, namespace.name, version, world.now())
    assert await told(superuser, f"sha256:{version.hex()}") == [("policy.load", "", "loaded")]
    found = await superuser.fetch(
        "select previous_state, next_state from authority.audit_event where tenant = $1 and kind = 'policy.activate'",
        str(world.tenant),
    )
    assert [tuple(row) for row in found] == [(f"sha256:{namespace.policy_version.hex()}", f"sha256:{version.hex()}")]


async def test_a_key_is_told_from_its_first_day_to_its_last(world: World, superuser: Superuser) -> None:
    authority, now = world.authority, world.now()
    scope = Scope(world.tenant)
    old = generate(authority.folder, KeyPurpose.RECEIPT, now, scope)
    new = generate(authority.folder, KeyPurpose.RECEIPT, now, scope)
    await authority.store.administration.add_issuer_key(old, now)
    await authority.store.administration.add_issuer_key(new, now)
    await authority.store.administration.revoke_issuer_key(old.key_id, None, now)
    assert await told(superuser, old.key_id) == [
        ("issuer_key.add", "", "active"),
        ("issuer_key.retire", "active", "retiring"),
        ("issuer_key.revoke", "retiring", "revoked"),
    ]


async def test_a_principal_and_its_key_are_told_with_the_state_before(world: World, superuser: Superuser) -> None:
    administration, holder = world.authority.store.administration, world.service
    await administration.revoke_principal_key(world.tenant, holder.key_id, world.now())
    await administration.revoke_principal(world.tenant, holder.ref, world.now())
    assert (await told(superuser, holder.key_id))[-1] == ("principal_key.revoke", "active", "revoked")
    found = await superuser.fetch(
        "select previous_state, next_state from authority.audit_event"
        " where tenant = $1 and kind = 'principal.revoke' and subject = $2",
        str(world.tenant),
        str(holder.ref),
    )
    assert [tuple(row) for row in found] == [("active", "revoked")]
