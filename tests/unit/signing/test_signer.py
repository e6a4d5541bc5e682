"""What is signed here is read and believed here and offline, and by which key it is signed."""

from dataclasses import replace

import pytest

from authority.domain.references import TenantRef, after
from authority.domain.statement import IssuerKey, KeyPurpose, KeyState, Statement
from authority.signing.codec.words import KEY_PURPOSES
from authority.signing.key_ring import KeyRing
from authority.signing.rotation import Scope, generate
from authority.signing.signer import KeyedSigner
from authority.signing.statements import StatementReader
from authority.usecases.ports import NoSigningKey, Signer, Statements
from capability_authority.offline import (
    KeyRecord,
    KeyRevoked,
    KeySet,
    PublicKey,
    verify_receipt,
    verify_statement,
)
from capability_authority.v1.statements_pb2 import Signature, SignedStatement
from capability_authority.v1.types_pb2 import KeyState as KeyStateNumber
from tests.unit.signing import kinds, samples
from tests.unit.signing.conftest import Room, revoked

ELSEWHERE = TenantRef("acme", "t2")


def sent(statement: Statement) -> SignedStatement:
    """The statement as a client gets it."""
    signature = Signature(key_id=statement.key_id, signature=statement.signature)
    return SignedStatement(payload_type=statement.payload_type, payload=statement.payload, signature=signature)


def client_key_set(ring: KeyRing) -> KeySet:
    """The keys as a client gets them."""
    records = [
        KeyRecord(
            public_key=PublicKey(key.public_key),
            purpose=KEY_PURPOSES.encode(key.purpose),
            state=KeyStateNumber.Value(f"KEY_STATE_{key.state.name}"),
            compromised_since_ms=key.compromised_since,
            tenant=(key.tenant.namespace, key.tenant.id) if key.tenant else None,
            memory_namespace=key.memory_namespace,
        )
        for key in ring.published()
    ]
    return KeySet.of(samples.ISSUER, *records)


def test_what_is_signed_is_read_back_and_believed_here_and_offline(room: Room) -> None:
    # Given one statement of each kind
    signer: Signer = room.signer
    capability = signer.sign_capability(samples.CAPABILITY)
    validation = signer.sign_validation(samples.VALIDATION)
    decision = signer.sign_decision(samples.DECISION)
    receipt = signer.sign_receipt(samples.RECEIPT)

    # When another process of this authority, that has signed nothing, reads and judges them
    reader: Statements = StatementReader(room.ring)
    statements = {
        KeyPurpose.CAPABILITY: capability.statement,
        KeyPurpose.VALIDATION: validation.statement,
        KeyPurpose.DECISION: decision.statement,
        KeyPurpose.RECEIPT: receipt,
    }
    judged = [
        reader.judge_signature(statement, purpose, samples.TENANT, samples.NAMESPACE)
        for purpose, statement in statements.items()
    ]

    # Then they say what was signed, are believed, and are signed by their purpose's key
    assert reader.open_capability(capability.statement) == capability
    assert reader.open_validation(validation.statement) == validation
    assert reader.open_decision(decision.statement) == decision
    assert reader.open_receipt(receipt) == samples.RECEIPT
    assert judged == [None] * 4
    assert {purpose: statement.key_id for purpose, statement in statements.items()} == {
        purpose: room.keys[purpose].key_id for purpose in statements
    }

    # And a client that has the key set believes them too
    for statement in statements.values():
        verify_statement(sent(statement), client_key_set(room.ring))


def test_signing_the_same_again_gives_the_same_bytes(room: Room) -> None:
    assert room.signer.sign_receipt(samples.RECEIPT) == room.signer.sign_receipt(samples.RECEIPT)


def test_the_newest_active_key_that_covers_the_statement_signs(room: Room) -> None:
    # Given newer keys: one of another tenant, one of another memory namespace, one of just this place, one retiring
    def make(age: int, scope: Scope) -> IssuerKey:
        return generate(room.folder, KeyPurpose.RECEIPT, after(samples.NOW, age), scope)

    here = make(1, Scope(samples.TENANT, samples.NAMESPACE))
    retiring = replace(make(2, Scope()), state=KeyState.RETIRING)
    other_namespace = make(3, Scope(samples.TENANT, "other"))
    other_tenant = make(4, Scope(ELSEWHERE))
    room.know(here, retiring, other_namespace, other_tenant)

    # When receipts of this place and of others are signed
    def signer_of(tenant: TenantRef, memory_namespace: str) -> str:
        terms = replace(samples.CAPABILITY, tenant=tenant, memory_namespace=memory_namespace)
        return room.signer.sign_receipt(replace(samples.RECEIPT, capability=terms)).key_id

    # Then each is signed by the newest active one that covers it
    assert signer_of(samples.TENANT, samples.NAMESPACE) == here.key_id
    assert signer_of(samples.TENANT, "other") == other_namespace.key_id
    assert signer_of(ELSEWHERE, samples.NAMESPACE) == other_tenant.key_id
    assert signer_of(TenantRef("x", "t1"), samples.NAMESPACE) == room.keys[KeyPurpose.RECEIPT].key_id


def test_without_an_active_key_nothing_is_signed(room: Room) -> None:
    room.know(replace(room.keys[KeyPurpose.CAPABILITY], state=KeyState.RETIRING))
    with pytest.raises(NoSigningKey, match="no active capability key covers"):
        room.signer.sign_capability(samples.CAPABILITY)
    room.know(revoked(room.keys[KeyPurpose.RECEIPT], None))
    with pytest.raises(NoSigningKey, match="no active receipt key covers"):
        room.signer.sign_receipt(samples.RECEIPT)


def test_a_receipt_of_a_key_that_counts_needs_no_attestation(room: Room) -> None:
    receipt = room.signer.sign_receipt(samples.RECEIPT)
    assert room.signer.attestation(samples.TENANT, receipt, samples.NOW) is None
    room.know(replace(room.keys[KeyPurpose.RECEIPT], state=KeyState.RETIRING))
    assert room.signer.attestation(samples.TENANT, receipt, samples.NOW) is None


def test_e09_the_current_receipt_key_vouches_for_a_receipt_whose_key_was_revoked(room: Room) -> None:
    # Given a receipt whose key was revoked since, and a newer receipt key of just this place
    receipt = room.signer.sign_receipt(samples.RECEIPT)
    current = generate(room.folder, KeyPurpose.RECEIPT, samples.NOW, Scope(samples.TENANT, samples.NAMESPACE))
    room.know(revoked(room.keys[KeyPurpose.RECEIPT], samples.NOW), current)

    # When it is asked for, by a process that never saw the receipt
    reader = StatementReader(room.ring)
    attestation = KeyedSigner(room.ring, reader, samples.ISSUER).attestation(samples.TENANT, receipt, samples.NOW)

    # Then a client believes the receipt with the attestation, and only with it
    assert attestation is not None
    assert attestation.key_id == current.key_id
    key_set = client_key_set(room.ring)
    with pytest.raises(KeyRevoked):
        verify_receipt(sent(receipt), key_set)
    verified = verify_receipt(sent(receipt), key_set, attestation=sent(attestation))
    assert verified.receipt_id == samples.RECEIPT.receipt_id


def test_only_this_tenants_truly_signed_receipts_are_vouched_for(room: Room) -> None:
    # Given a revoked receipt key, a revoked capability key, and a current receipt key
    receipt = room.signer.sign_receipt(samples.RECEIPT)
    capability = room.signer.sign_capability(samples.CAPABILITY).statement
    payload_type, payload = kinds.RECEIPT.payload_type, kinds.RECEIPT.payload()
    by_other_purpose = kinds.signed(payload_type, payload, room.private_key(KeyPurpose.CAPABILITY))
    room.know(
        revoked(room.keys[KeyPurpose.RECEIPT], None),
        revoked(room.keys[KeyPurpose.CAPABILITY], None),
        generate(room.folder, KeyPurpose.RECEIPT, samples.NOW),
    )

    # Then nothing but the receipt itself is vouched for, and only for its own tenant
    def vouched(tenant: TenantRef, statement: Statement) -> bool:
        return room.signer.attestation(tenant, statement, samples.NOW) is not None

    assert vouched(samples.TENANT, receipt)
    assert not vouched(ELSEWHERE, receipt)
    assert not vouched(samples.TENANT, replace(receipt, signature=bytes(64)))
    assert not vouched(samples.TENANT, replace(receipt, payload=receipt.payload[:-1]))
    assert not vouched(samples.TENANT, capability)
    assert not vouched(samples.TENANT, by_other_purpose)
    assert not vouched(samples.TENANT, replace(receipt, key_id=f"sha256:{samples.digest(1).hex()}"))


def test_a_receipt_reaches_its_holder_though_nobody_can_vouch_for_it(room: Room) -> None:
    receipt = room.signer.sign_receipt(samples.RECEIPT)
    room.know(revoked(room.keys[KeyPurpose.RECEIPT], None))
    assert room.signer.attestation(samples.TENANT, receipt, samples.NOW) is None
