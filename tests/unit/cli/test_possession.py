"""A key is registered only by who holds it (semantics §2)."""

import pytest

from authority.domain.references import PrincipalRef, TenantRef
from authority.signing.possession import PossessionUnproved, new_key, registration_message, require_possession

TENANT, PRINCIPAL = TenantRef("acme", "t1"), PrincipalRef("agents", "a1")


def test_who_signs_the_registration_holds_the_key() -> None:
    key = new_key()
    proof = key.sign(registration_message(TENANT, PRINCIPAL, key.public_key.raw))

    assert require_possession(TENANT, PRINCIPAL, key.public_key.raw, proof) == key.public_key.key_id


def test_the_message_is_the_documented_one() -> None:
    expected = b"capability-authority/key-registration/v1\nacme|t1\nagents|a1\n" + b"ab" * 32

    assert registration_message(TENANT, PRINCIPAL, b"\xab" * 32) == expected


@pytest.mark.parametrize(
    ("tenant", "principal"),
    [
        (TenantRef("acme", "t2"), PRINCIPAL),
        (TenantRef("other", "t1"), PRINCIPAL),
        (TENANT, PrincipalRef("agents", "a2")),
    ],
)
def test_a_proof_for_another_registration_is_refused(tenant: TenantRef, principal: PrincipalRef) -> None:
    key = new_key()
    proof = key.sign(registration_message(tenant, principal, key.public_key.raw))

    with pytest.raises(PossessionUnproved, match="no signature of this key over this registration"):
        require_possession(TENANT, PRINCIPAL, key.public_key.raw, proof)


def test_a_proof_by_another_key_is_refused() -> None:
    key, other = new_key(), new_key()
    proof = other.sign(registration_message(TENANT, PRINCIPAL, key.public_key.raw))

    with pytest.raises(PossessionUnproved):
        require_possession(TENANT, PRINCIPAL, key.public_key.raw, proof)


@pytest.mark.parametrize("weak", [bytes(32), b"\x01" + bytes(31), b"\xff" * 32, b"short"])
def test_e03_a_weak_key_is_refused_whatever_was_signed(weak: bytes) -> None:
    with pytest.raises(PossessionUnproved, match="the public key is refused"):
        require_possession(TENANT, PRINCIPAL, weak, bytes(64))
