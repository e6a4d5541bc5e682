"""The port `KeyNames`, and the operator's register of names: what every store keeps to."""

import pytest

from authority.domain.audit import AuditFilter
from authority.domain.credential import Credential, CredentialForm
from authority.domain.key_alias import KeyAlias, NamedKey, is_key_alias, is_key_name
from authority.domain.references import SECOND
from authority.usecases.administer import AlreadyThere, NotThere
from authority.usecases.key_aliases import KeyAliases
from authority.usecases.ports import KeyNames
from tests.world.identities import TOKEN, bind
from tests.world.world import Person, World

NAME = "loader/key-1"


@pytest.fixture
def names(world: World) -> KeyNames:
    return world.authority.store.key_names


@pytest.fixture
def aliases(world: World) -> KeyAliases:
    return world.authority.store.key_aliases


def named(world: World, person: Person) -> NamedKey:
    """The person's key, as it was registered when the world began."""
    return NamedKey(person.principal, person.key_id, person.key.public_key.raw, world.now())


async def test_a_key_is_called_by_its_thumbprint_and_by_every_name_it_was_given(
    world: World, names: KeyNames, aliases: KeyAliases
) -> None:
    service = world.service
    assert await names.key_called(world.tenant, service.key_id) == named(world, service)
    assert await names.key_called(world.tenant, NAME) is None
    for name in (NAME, "k1"):
        await aliases.add(world.tenant, name, service.key_id, world.now())
        assert await names.key_called(world.tenant, name) == named(world, service)


async def test_a_name_is_taken_byte_for_byte(world: World, names: KeyNames, aliases: KeyAliases) -> None:
    await aliases.add(world.tenant, "k1", world.service.key_id, world.now())
    for other in ("K1", "k1 ", " k1", "k", "k%", "k_", "*", "k1\n", ""):
        assert await names.key_called(world.tenant, other) is None


async def test_of_several_names_one_is_taken_back_and_all_are_listed_by_name(
    world: World, names: KeyNames, aliases: KeyAliases
) -> None:
    neighbour = await world.neighbour()
    for name in ("k2", "k1"):
        await aliases.add(world.tenant, name, world.service.key_id, world.now())
        await aliases.add(neighbour.tenant, name, neighbour.service.key_id, world.now())

    await aliases.revoke(world.tenant, "k1", world.now())

    assert await names.key_called(world.tenant, "k1") is None
    assert await names.key_called(world.tenant, "k2") == named(world, world.service)
    assert await names.key_called(neighbour.tenant, "k1") == named(neighbour, neighbour.service)
    listed = await aliases.aliases(world.tenant)
    assert [(it.alias, it.key_id, it.revoke_time is None) for it in listed] == [
        ("k1", world.service.key_id, False),
        ("k2", world.service.key_id, True),
    ]


async def test_a_thumbprint_is_taken_byte_for_byte_and_whole(world: World, names: KeyNames) -> None:
    key_id = world.service.key_id
    digits = key_id.removeprefix("sha256:")
    for other in (
        f"{key_id}00", f"{key_id}\n", key_id[:-1], key_id[:-2], digits, f"sha256:{digits.upper()}", f"SHA256:{digits}",
        "sha256:", f"sha256:{'z' * 64}", f" {key_id}"
    ):  # fmt: skip
        assert await names.key_called(world.tenant, other) is None, other


async def test_a_name_stands_for_one_key_until_it_is_revoked(
    world: World, names: KeyNames, aliases: KeyAliases
) -> None:
    # given a name of the service's key
    store, began = world.authority.store, world.now()
    await aliases.add(world.tenant, NAME, world.service.key_id, began)
    # then nobody else's key gets it, nor the same key a second time
    for person in (world.user, world.service):
        with pytest.raises(AlreadyThere):
            await aliases.add(world.tenant, NAME, person.key_id, began)
    # when it is revoked, then nothing is called so, and the key goes on
    world.authority.clock.advance(SECOND)
    assert await aliases.revoke(world.tenant, NAME, world.now()) == world.service.key_id
    assert await names.key_called(world.tenant, NAME) is None
    assert await names.key_called(world.tenant, world.service.key_id) is not None
    with pytest.raises(NotThere):
        await aliases.revoke(world.tenant, NAME, world.now())
    # and it may be given anew, to another key
    await aliases.add(world.tenant, NAME, world.user.key_id, world.now())
    assert await names.key_called(world.tenant, NAME) == NamedKey(
        world.user.principal, world.user.key_id, world.user.key.public_key.raw, began
    )
    # and all of it is told
    first = KeyAlias(
        tenant=world.tenant,
        alias=NAME,
        key_id=world.service.key_id,
        principal=world.service.ref,
        create_time=began,
        revoke_time=world.now(),
    )
    second = KeyAlias(
        tenant=world.tenant,
        alias=NAME,
        key_id=world.user.key_id,
        principal=world.user.ref,
        create_time=world.now(),
    )
    assert list(await aliases.aliases(world.tenant)) == [first, second]
    told = await store.audit_log.page(world.tenant, AuditFilter(subject=NAME), after="", size=9, oldest_first=True)
    assert [(it.event.kind, it.event.previous_state, it.event.next_state) for it in told] == [
        ("key_alias.add", "", world.service.key_id),
        ("key_alias.revoke", world.service.key_id, "revoked"),
        ("key_alias.add", "", world.user.key_id),
    ]


async def test_e09_a_revoked_key_is_called_by_nothing(world: World, names: KeyNames, aliases: KeyAliases) -> None:
    # given names of two keys, one of which is revoked, and the other's principal
    administration = world.authority.store.administration
    await aliases.add(world.tenant, "key", world.service.key_id, world.now())
    await aliases.add(world.tenant, "principal", world.user.key_id, world.now())
    await administration.revoke_principal_key(world.tenant, world.service.key_id, world.now())
    await administration.revoke_principal(world.tenant, world.user.ref, world.now())
    # then neither is there, by whatever it is called, and the list says so; and nothing is called after either
    listed = {it.alias: (it.revoke_time, it.key_is_active) for it in await aliases.aliases(world.tenant)}
    assert listed == {"key": (None, False), "principal": (None, False)}
    for name in ("key", world.service.key_id, "principal", world.user.key_id):
        assert await names.key_called(world.tenant, name) is None
    for key_id in (world.service.key_id, world.user.key_id):
        with pytest.raises(NotThere):
            await aliases.add(world.tenant, "new", key_id, world.now())


async def test_what_signs_nothing_has_no_name(world: World, names: KeyNames, aliases: KeyAliases) -> None:
    for credential in (Credential(CredentialForm.SPIFFE, "spiffe://harbour.example/loader"), TOKEN):
        await bind(world, world.service, credential)
        assert await names.key_called(world.tenant, credential.id) is None
        with pytest.raises(NotThere):
            await aliases.add(world.tenant, NAME, credential.id, world.now())


async def test_g02_names_and_keys_of_another_tenant_are_not_there(
    world: World, names: KeyNames, aliases: KeyAliases
) -> None:
    # given a neighbour with a name of its own
    neighbour = await world.neighbour()
    await aliases.add(neighbour.tenant, NAME, neighbour.service.key_id, world.now())
    # then neither it nor the key is there, and the same name is free
    assert await names.key_called(world.tenant, NAME) is None
    assert await names.key_called(world.tenant, neighbour.service.key_id) is None
    with pytest.raises(NotThere):
        await aliases.add(world.tenant, "theirs", neighbour.service.key_id, world.now())
    with pytest.raises(NotThere):
        await aliases.revoke(world.tenant, NAME, world.now())
    assert list(await aliases.aliases(world.tenant)) == []
    await aliases.add(world.tenant, NAME, world.service.key_id, world.now())
    assert await names.key_called(world.tenant, NAME) == named(world, world.service)


@pytest.mark.parametrize(
    ("text", "is_name", "is_alias"),
    [
        ("k1", True, True),
        ("a" * 256, True, True),
        ("a" * 257, False, False),
        ("ruflo://keys/A+b@c.d_e-f", True, True),
        (f"sha256:{'0' * 64}", True, False),
        ("sha256:x", True, False),
        ("SHA256:x", True, False),
        ("sha256", True, True),
        *((text, False, False) for text in ("", ".k", "k 1", "k\n", "k*", "k%", "ключ", "k\0", "\u202ek", "k|1")),
    ],
)
def test_a_name_is_a_token_and_never_a_thumbprint(text: str, *, is_name: bool, is_alias: bool) -> None:
    assert (is_key_name(text), is_key_alias(text)) == (is_name, is_alias)
