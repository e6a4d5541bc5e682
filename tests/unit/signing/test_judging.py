"""Who signed a statement, and whether that key may (semantics §3)."""

from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from authority.domain.capability import OpenedCapability
from authority.domain.reasons import Reason
from authority.domain.references import TenantRef
from authority.domain.refusal import Refusal
from authority.domain.statement import IssuerKey, KeyPurpose, KeyState, Statement
from authority.signing.codec.words import KEY_PURPOSES
from authority.signing.rotation import generate
from capability_authority.offline import PrivateKey, pae, sha256, to_wire
from tests.unit.signing import kinds, samples
from tests.unit.signing.conftest import Room, revoked
from tests.unit.signing.flips import field_paths, flips
from tests.unit.signing.kinds import ATTESTATION, CAPABILITY, READ, VALIDATION, Kind, signed

GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493
"""The order L of Ed25519's base point (RFC 8032)."""


def judge(room: Room, statement: Statement, purpose: KeyPurpose) -> Reason | None:
    """The reason why the statement is not believed."""
    refusal = room.reader.judge_signature(statement, purpose, samples.TENANT, samples.NAMESPACE)
    return refusal.reason if refusal else None


def issued(room: Room, kind: Kind) -> Statement:
    """The sample, signed by the key that signs this kind."""
    assert kind.purpose is not None
    return signed(kind.payload_type, kind.payload(), room.private_key(kind.purpose))


@pytest.mark.parametrize("kind", [*READ, ATTESTATION], ids=kinds.name_of)
def test_what_the_right_key_signed_is_believed(room: Room, kind: Kind) -> None:
    assert kind.purpose is not None
    assert judge(room, issued(room, kind), kind.purpose) is None


@pytest.mark.parametrize("kind", [*READ, ATTESTATION], ids=kinds.name_of)
def test_e10_no_field_of_a_payload_can_be_changed(room: Room, kind: Kind) -> None:
    # Given a statement whose signature is already remembered as good
    assert kind.purpose is not None
    statement = issued(room, kind)
    assert judge(room, statement, kind.purpose) is None

    # When any one field of its payload is changed in any way, and the signature is kept
    tried = set()
    for path, message in flips(kind.message()):
        payload = message.SerializeToString(deterministic=True)
        assert payload != statement.payload, path
        tried.add(path)

        # Then it is not believed
        assert judge(room, replace(statement, payload=payload), kind.purpose) is Reason.SIGNATURE_INVALID, path
    assert tried == set(field_paths(kind.message()))


@pytest.mark.parametrize("kind", READ, ids=kinds.name_of)
def test_e10_nothing_around_a_payload_can_be_changed(room: Room, kind: Kind) -> None:
    # Given a good statement that is remembered
    assert kind.purpose is not None
    assert kind.read is not None
    statement = issued(room, kind)
    assert judge(room, statement, kind.purpose) is None
    others = [other.payload_type for other in kinds.ALL if other is not kind]
    signature, key_id = statement.signature, statement.key_id

    # When payload type, key id or any bit of the signature is changed
    changed = [replace(statement, payload_type=other) for other in others]
    changed += [replace(statement, signature=_flip(signature, bit)) for bit in range(8 * len(signature))]
    changed += [replace(statement, key_id=other.key_id) for other in room.keys.values() if other.key_id != key_id]
    changed += [replace(statement, key_id=_flip(key_id.encode(), 8 * at).decode()) for at in range(len(key_id))]

    # Then it is refused when read or when judged
    for each in changed:
        refusal = kind.read(room.reader, each)
        assert isinstance(refusal, Refusal) or judge(room, each, kind.purpose) in {
            Reason.SIGNATURE_INVALID,
            Reason.ISSUER_UNKNOWN,
        }


def test_e02_a_second_signature_makes_no_second_capability(room: Room) -> None:
    # Given a capability, and its signature with s replaced by s + L, which some verifiers take
    statement = issued(room, CAPABILITY)
    first = room.reader.open_capability(statement)
    s = int.from_bytes(statement.signature[32:], "little") + GROUP_ORDER
    malleable = replace(statement, signature=statement.signature[:32] + s.to_bytes(32, "little"))

    # When both are judged, the good one first so that it is remembered
    assert judge(room, statement, KeyPurpose.CAPABILITY) is None
    second = room.reader.open_capability(malleable)

    # Then the second is no signature, and even if it were one, the statement would be the same
    assert judge(room, malleable, KeyPurpose.CAPABILITY) is Reason.SIGNATURE_INVALID
    assert isinstance(first, OpenedCapability)
    assert isinstance(second, OpenedCapability)
    assert first.digest == second.digest


@pytest.mark.parametrize("size", [0, 1, 32, 63, 65, 96, 4096])
def test_e05_signatures_of_another_length_are_invalid(room: Room, size: int) -> None:
    statement = issued(room, CAPABILITY)
    resized = replace(statement, signature=(statement.signature * 64)[:size])
    assert judge(room, resized, KeyPurpose.CAPABILITY) is Reason.SIGNATURE_INVALID
    assert not room.reader.is_signed_by(resized, room.keys[KeyPurpose.CAPABILITY].public_key)


def test_e09_a_rotated_key_verifies_until_it_is_revoked(room: Room) -> None:
    # Given a capability by a key that was rotated away, verified before and so remembered
    statement, old = issued(room, CAPABILITY), room.keys[KeyPurpose.CAPABILITY]
    room.know(generate(room.folder, KeyPurpose.CAPABILITY, samples.NOW), replace(old, state=KeyState.RETIRING))
    assert judge(room, statement, KeyPurpose.CAPABILITY) is None

    # When the old key is revoked
    room.know(revoked(old, None))

    # Then nothing of it is believed from the very next judgement, remembered or not
    assert judge(room, statement, KeyPurpose.CAPABILITY) is Reason.KEY_REVOKED


@pytest.mark.parametrize("kind", READ, ids=kinds.name_of)
def test_retiring_keys_of_every_purpose_verify(room: Room, kind: Kind) -> None:
    assert kind.purpose is not None
    room.know(replace(room.keys[kind.purpose], state=KeyState.RETIRING))
    assert judge(room, issued(room, kind), kind.purpose) is None


def test_i10_a_validation_receipt_by_a_holder_key_or_a_capability_key_is_not_believed(room: Room) -> None:
    # Given receipts that are good but for the key that signed them
    holder = PrivateKey.generate()
    by_holder = signed(VALIDATION.payload_type, VALIDATION.payload(), holder)
    by_capability_key = signed(VALIDATION.payload_type, VALIDATION.payload(), room.private_key(KeyPurpose.CAPABILITY))

    # Then neither is from a known issuer of validation receipts
    assert judge(room, by_holder, KeyPurpose.VALIDATION) is Reason.ISSUER_UNKNOWN
    assert judge(room, by_capability_key, KeyPurpose.VALIDATION) is Reason.ISSUER_UNKNOWN


@pytest.mark.parametrize("kind", READ, ids=kinds.name_of)
@pytest.mark.parametrize("purpose", KeyPurpose)
def test_no_statement_passes_for_one_of_another_purpose(room: Room, kind: Kind, purpose: KeyPurpose) -> None:
    # Given a statement signed by a key of any purpose
    statement = signed(kind.payload_type, kind.payload(), room.private_key(purpose))

    # Then it passes only where purpose, payload type and what is asked for are one
    believed = {asked for asked in KeyPurpose if judge(room, statement, asked) is None}
    assert believed == ({purpose} if purpose is kind.purpose else set())


OTHER_TENANT = TenantRef("acme", "t2")
SCOPES: tuple[tuple[str, TenantRef | None, str | None, bool], ...] = (
    ("everywhere", None, None, True),
    ("this tenant", samples.TENANT, None, True),
    ("this namespace of any tenant", None, samples.NAMESPACE, True),
    ("exactly here", samples.TENANT, samples.NAMESPACE, True),
    ("another tenant", OTHER_TENANT, None, False),
    ("same id in another tenant namespace", TenantRef("other", "t1"), None, False),
    ("another namespace", samples.TENANT, "team", False),
    ("this namespace of another tenant", OTHER_TENANT, samples.NAMESPACE, False),
)


@pytest.mark.parametrize(
    ("tenant", "memory_namespace", "covers"), [scope[1:] for scope in SCOPES], ids=[scope[0] for scope in SCOPES]
)
def test_a_key_counts_only_in_its_scope(
    room: Room, tenant: TenantRef | None, memory_namespace: str | None, *, covers: bool
) -> None:
    statement = issued(room, CAPABILITY)
    room.know(replace(room.keys[KeyPurpose.CAPABILITY], tenant=tenant, memory_namespace=memory_namespace))
    assert judge(room, statement, KeyPurpose.CAPABILITY) is (None if covers else Reason.ISSUER_UNKNOWN)


def test_where_several_refusals_apply_the_upper_answers(room: Room) -> None:
    # Given a revoked key of another purpose and scope
    key = revoked(replace(room.keys[KeyPurpose.CAPABILITY], tenant=OTHER_TENANT), samples.NOW)
    room.know(key)
    statement = issued(room, CAPABILITY)
    forged = replace(statement, signature=bytes(64))

    # Then a bad signature answers first, a key that never could sign this next, and only then that it was revoked
    assert judge(room, forged, KeyPurpose.CAPABILITY) is Reason.SIGNATURE_INVALID
    assert judge(room, statement, KeyPurpose.CAPABILITY) is Reason.ISSUER_UNKNOWN
    room.know(replace(key, tenant=None))
    assert judge(room, statement, KeyPurpose.VALIDATION) is Reason.ISSUER_UNKNOWN
    assert judge(room, statement, KeyPurpose.CAPABILITY) is Reason.KEY_REVOKED


def test_a_key_that_left_the_ring_is_unknown(room: Room) -> None:
    statement = issued(room, CAPABILITY)
    assert judge(room, statement, KeyPurpose.CAPABILITY) is None
    room.ring.replace([key for key in room.ring.published() if key.purpose is not KeyPurpose.CAPABILITY])
    assert judge(room, statement, KeyPurpose.CAPABILITY) is Reason.ISSUER_UNKNOWN


def test_is_signed_by_asks_for_exactly_this_key(room: Room) -> None:
    # Given a statement by a holder
    holder, other = PrivateKey.generate(), PrivateKey.generate()
    statement = signed(kinds.INVOCATION.payload_type, kinds.INVOCATION.payload(), holder)

    # Then only the holder's public key fits, under its own id
    assert room.reader.is_signed_by(statement, holder.public_key.raw)
    assert not room.reader.is_signed_by(statement, other.public_key.raw)
    assert not room.reader.is_signed_by(replace(statement, key_id=other.public_key.key_id), holder.public_key.raw)


def test_e03_a_key_that_anyone_can_sign_for_signs_nothing(room: Room) -> None:
    # Given the point of order one, under which this signature verifies for every message
    identity = b"\x01" + bytes(31)
    signature = identity + bytes(32)
    payload = kinds.INVOCATION.payload()
    Ed25519PublicKey.from_public_bytes(identity).verify(signature, pae(kinds.INVOCATION.payload_type, payload))

    # When a statement names it as the key that signed
    statement = Statement(kinds.INVOCATION.payload_type, payload, to_wire(sha256(identity)), signature)

    # Then it did not
    assert not room.reader.is_signed_by(statement, identity)
    assert not room.reader.is_signed_by(statement, identity[:31])


def test_the_contract_names_a_purpose_for_every_purpose_of_the_domain() -> None:
    assert len({KEY_PURPOSES.encode(purpose) for purpose in KeyPurpose}) == len(KeyPurpose)


def test_a_key_whose_id_is_not_its_thumbprint_or_that_is_weak_is_left_out(room: Room) -> None:
    # Given a good key, one with another's id, one of small order, and a revocation that must not be held up by them
    good = room.keys[KeyPurpose.RECEIPT]
    capability_key = room.keys[KeyPurpose.CAPABILITY]
    foreign = replace(good, key_id=f"sha256:{samples.digest(1).hex()}")
    weak = IssuerKey(f"sha256:{samples.digest(2).hex()}", bytes(32), KeyPurpose.RECEIPT, KeyState.ACTIVE, samples.NOW)
    statement = issued(room, CAPABILITY)

    # When the ring takes them
    problems = room.ring.replace((foreign, weak, good, revoked(capability_key, None)))

    # Then the two are left out and named, and the revocation counts
    assert [problem.split(":")[0] for problem in problems] == ["issuer key sha256", "issuer key sha256"]
    assert foreign.key_id in problems[0]
    assert weak.key_id in problems[1]
    assert {key.key_id for key in room.ring.published()} == {good.key_id, capability_key.key_id}
    assert judge(room, statement, KeyPurpose.CAPABILITY) is Reason.KEY_REVOKED


def _flip(data: bytes, bit: int) -> bytes:
    at, shift = divmod(bit, 8)
    return data[:at] + bytes([data[at] ^ (1 << shift)]) + data[at + 1 :]
