"""Statements judged against a key set, without a server."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.message import Message

from capability_authority.offline import (
    PAYLOAD_CLASSES,
    SIGNED_PAYLOAD_TYPES,
    AttestationInvalid,
    ContentMismatch,
    IssuerMismatch,
    KeyPurposeMismatch,
    KeyRecord,
    KeyRevoked,
    KeyScopeMismatch,
    KeySet,
    KeyUnknown,
    PayloadTypeMismatch,
    SignatureInvalid,
    digest_of,
    payload_type_of,
    sha256,
    sign,
    timestamp,
    verify_as,
    verify_receipt,
    verify_statement,
)
from capability_authority.offline.verification import PURPOSES
from capability_authority.v1.statements_pb2 import (
    CommitCapability,
    CommitReceipt,
    DecisionReceipt,
    EvidenceClaim,
    Invocation,
    KeyAttestation,
    ProposalRevision,
    SignedStatement,
    ValidationReceipt,
)
from capability_authority.v1.types_pb2 import (
    KEY_PURPOSE_RECEIPT,
    KEY_STATE_ACTIVE,
    KEY_STATE_RETIRING,
    KEY_STATE_REVOKED,
    KeyPurpose,
    KeyState,
    TenantRef,
)
from tests.unit.offline.builders import CONTENT, ISSUER, NOW_MS, SIGNED_CLASSES, filled, private_key, receipt

OLD_KEY = private_key("old receipt key")
NEW_KEY = private_key("new receipt key")
PURPOSE_KEYS = {purpose: private_key(KeyPurpose.Name(purpose)) for purpose in KeyPurpose.values()}


def key_set(*records: KeyRecord) -> KeySet:
    """A record for one key of each purpose, and the given ones."""
    usual = [
        KeyRecord(public_key=key.public_key, purpose=purpose, state=KEY_STATE_ACTIVE)
        for purpose, key in PURPOSE_KEYS.items()
    ]
    return KeySet.of(ISSUER, *usual, *records)


def receipt_key(state: KeyState.ValueType, more: dict[str, Any] | None = None) -> KeyRecord:
    return KeyRecord(public_key=OLD_KEY.public_key, purpose=KEY_PURPOSE_RECEIPT, state=state, **(more or {}))


def new_receipt_key(more: dict[str, Any] | None = None) -> KeyRecord:
    usual: dict[str, Any] = {"purpose": KEY_PURPOSE_RECEIPT, "state": KEY_STATE_ACTIVE}
    return KeyRecord(public_key=NEW_KEY.public_key, **(usual | (more or {})))


def statement_of(message_class: type[Message]) -> tuple[Message, SignedStatement]:
    """A statement of the pinned issuer by the key of the right purpose."""
    message = filled(message_class)
    if "issuer" in message_class.DESCRIPTOR.fields_by_name:
        message.issuer = ISSUER  # type: ignore[attr-defined]
    return message, sign(message, PURPOSE_KEYS[PURPOSES[payload_type_of(message_class)]])


def attestation_of(statement: SignedStatement) -> KeyAttestation:
    return KeyAttestation(
        issuer=ISSUER,
        tenant=receipt().capability.tenant,
        statement_digest=digest_of(statement),
        signature_digest=sha256(statement.signature.signature),
        key_id=statement.signature.key_id,
        attest_time=timestamp(NOW_MS),
    )


@pytest.mark.parametrize("message_class", SIGNED_CLASSES)
def test_a_statement_by_a_key_of_the_right_purpose_says_what_it_says(message_class: type[Message]) -> None:
    message, statement = statement_of(message_class)

    assert verify_statement(statement, key_set()) == message
    assert verify_as(statement, key_set(), message_class) == message


def test_every_signed_kind_has_a_purpose() -> None:
    assert set(PURPOSES) == SIGNED_PAYLOAD_TYPES


@pytest.mark.parametrize("message_class", SIGNED_CLASSES)
@pytest.mark.parametrize("purpose", KeyPurpose.values())
def test_a_key_of_another_purpose_signs_nothing(message_class: type[Message], purpose: KeyPurpose.ValueType) -> None:
    right = PURPOSES[payload_type_of(message_class)]
    statement = sign(statement_of(message_class)[0], PURPOSE_KEYS[purpose])
    if purpose == right:
        assert verify_statement(statement, key_set()) is not None
        return

    with pytest.raises(KeyPurposeMismatch) as refusal:
        verify_statement(statement, key_set())

    assert (refusal.value.expected, refusal.value.presented) == (KeyPurpose.Name(right), KeyPurpose.Name(purpose))


def test_a_purpose_that_this_version_does_not_know_signs_nothing() -> None:
    record = KeyRecord(public_key=OLD_KEY.public_key, purpose=99, state=KEY_STATE_ACTIVE)  # type: ignore[arg-type]

    with pytest.raises(KeyPurposeMismatch, match="purpose 99"):
        verify_statement(sign(receipt(), OLD_KEY), key_set(record))


def test_a_kind_that_is_unknown_or_never_signed_is_refused() -> None:
    revision = SignedStatement(payload_type=payload_type_of(ProposalRevision))

    for statement in (SignedStatement(payload_type="application/json"), SignedStatement(), revision):
        with pytest.raises(PayloadTypeMismatch):
            verify_statement(statement, key_set())
    with pytest.raises(PayloadTypeMismatch):
        verify_as(revision, key_set(), ProposalRevision)


def test_a_statement_of_another_kind_than_expected_is_refused() -> None:
    _, statement = statement_of(CommitCapability)

    with pytest.raises(PayloadTypeMismatch):
        verify_receipt(statement, key_set())
    with pytest.raises(PayloadTypeMismatch):
        verify_as(statement, key_set(), KeyAttestation)


def test_a_key_outside_the_key_set_is_unknown() -> None:
    with pytest.raises(KeyUnknown, match=ISSUER):
        verify_receipt(sign(receipt(), private_key("stranger")), key_set())


def test_a_signature_of_another_key_is_invalid() -> None:
    statement = sign(receipt(), private_key("stranger"))
    statement.signature.key_id = PURPOSE_KEYS[KEY_PURPOSE_RECEIPT].public_key.key_id

    with pytest.raises(SignatureInvalid):
        verify_receipt(statement, key_set())


@pytest.mark.parametrize("message_class", [each for each in SIGNED_CLASSES if each not in {EvidenceClaim, Invocation}])
def test_a_statement_of_another_issuer_is_refused(message_class: type[Message]) -> None:
    message = filled(message_class)
    message.issuer = "other.example"  # type: ignore[attr-defined]
    statement = sign(message, PURPOSE_KEYS[PURPOSES[payload_type_of(message_class)]])

    with pytest.raises(IssuerMismatch) as refusal:
        verify_statement(statement, key_set())

    assert (refusal.value.expected, refusal.value.presented) == (ISSUER, "other.example")


@pytest.mark.parametrize("message_class", SIGNED_CLASSES)
def test_a_key_of_another_tenant_is_refused_for_every_kind(message_class: type[Message]) -> None:
    message, statement = statement_of(message_class)
    purpose = PURPOSES[payload_type_of(message_class)]
    terms = message.capability if isinstance(message, CommitReceipt) else message
    own = (terms.tenant.namespace, terms.tenant.id)  # type: ignore[attr-defined]
    record = KeyRecord(public_key=PURPOSE_KEYS[purpose].public_key, purpose=purpose, state=KEY_STATE_ACTIVE)

    assert verify_statement(statement, KeySet.of(ISSUER, replace(record, tenant=own))) == message
    with pytest.raises(KeyScopeMismatch):
        verify_statement(statement, KeySet.of(ISSUER, replace(record, tenant=("other", own[1]))))


@pytest.mark.parametrize("message_class", [CommitCapability, ValidationReceipt, DecisionReceipt, CommitReceipt])
def test_a_key_of_another_memory_namespace_is_refused_for_every_kind_that_names_one(
    message_class: type[Message],
) -> None:
    message, statement = statement_of(message_class)
    purpose = PURPOSES[payload_type_of(message_class)]
    terms = message.capability if isinstance(message, CommitReceipt) else message
    own = terms.memory_namespace  # type: ignore[attr-defined]
    record = KeyRecord(public_key=PURPOSE_KEYS[purpose].public_key, purpose=purpose, state=KEY_STATE_ACTIVE)

    assert verify_statement(statement, KeySet.of(ISSUER, replace(record, memory_namespace=own))) == message
    with pytest.raises(KeyScopeMismatch):
        verify_statement(statement, KeySet.of(ISSUER, replace(record, memory_namespace=own + "x")))


@pytest.mark.parametrize(
    "scope",
    [
        {"tenant": ("cognitum-tenant", "other")},
        {"tenant": ("comms-tenant", "acme")},
        {"memory_namespace": "team"},
        {"tenant": ("cognitum-tenant", "acme"), "memory_namespace": "team/other"},
    ],
)
def test_a_receipt_by_a_key_of_another_scope_is_refused(scope: dict[str, Any]) -> None:
    with pytest.raises(KeyScopeMismatch, match="acme"):
        verify_receipt(sign(receipt(), OLD_KEY), key_set(receipt_key(KEY_STATE_ACTIVE, scope)))


def test_a_receipt_by_a_key_of_its_scope_is_good() -> None:
    record = receipt_key(KEY_STATE_ACTIVE, {"tenant": ("cognitum-tenant", "acme"), "memory_namespace": "team/build"})

    assert verify_receipt(sign(receipt(), OLD_KEY), key_set(record)) == receipt()


def test_the_receipt_must_be_for_the_content_given() -> None:
    statement = sign(receipt(), OLD_KEY)
    keys = key_set(receipt_key(KEY_STATE_ACTIVE))

    assert verify_receipt(statement, keys, content=CONTENT) == receipt()
    for other in (b"", CONTENT + b"\n", CONTENT.replace(b"forty", b"fifty")):
        with pytest.raises(ContentMismatch) as refusal:
            verify_receipt(statement, keys, content=other)
        assert refusal.value.expected == f"sha256:{sha256(CONTENT).hex()}"
        assert refusal.value.presented == f"sha256:{sha256(other).hex()}"


def test_e09_a_retiring_key_still_verifies() -> None:
    assert verify_receipt(sign(receipt(), OLD_KEY), key_set(receipt_key(KEY_STATE_RETIRING))) == receipt()


@pytest.mark.parametrize(
    "record",
    [
        receipt_key(KEY_STATE_REVOKED),
        receipt_key(KEY_STATE_REVOKED, {"compromised_since_ms": NOW_MS + 3_600_000}),
        receipt_key(KEY_STATE_ACTIVE, {"compromised_since_ms": NOW_MS}),
        receipt_key(99),  # type: ignore[arg-type]
    ],
)
def test_e09_nothing_a_revoked_key_signed_verifies_by_itself(record: KeyRecord) -> None:
    statement = sign(receipt(), OLD_KEY)

    with pytest.raises(KeyRevoked, match=OLD_KEY.public_key.key_id):
        verify_receipt(statement, key_set(record))
    with pytest.raises(KeyRevoked):
        verify_statement(statement, key_set(record))


@pytest.mark.parametrize("state", [KEY_STATE_ACTIVE, KEY_STATE_RETIRING])
def test_e09_a_revoked_receipt_verifies_when_a_current_key_vouches_for_it(state: KeyState.ValueType) -> None:
    statement = sign(receipt(), OLD_KEY)
    keys = key_set(receipt_key(KEY_STATE_REVOKED), new_receipt_key({"state": state}))

    verified = verify_receipt(statement, keys, attestation=sign(attestation_of(statement), NEW_KEY), content=CONTENT)

    assert verified == receipt()


def test_an_attestation_is_not_needed_while_the_key_counts() -> None:
    statement = sign(receipt(), OLD_KEY)

    verified = verify_receipt(statement, key_set(receipt_key(KEY_STATE_ACTIVE)), attestation=SignedStatement())

    assert verified == receipt()


def test_an_attestation_does_not_mend_a_forged_receipt_or_an_unknown_key() -> None:
    statement = sign(receipt(), private_key("stranger"))
    attestation = sign(attestation_of(statement), NEW_KEY)
    with pytest.raises(KeyUnknown):
        verify_receipt(statement, key_set(new_receipt_key()), attestation=attestation)

    statement.signature.key_id = OLD_KEY.public_key.key_id
    keys = key_set(receipt_key(KEY_STATE_REVOKED), new_receipt_key())
    with pytest.raises(SignatureInvalid):
        verify_receipt(statement, keys, attestation=sign(attestation_of(statement), NEW_KEY))


@pytest.mark.parametrize(
    ("change", "term"),
    [
        ({"statement_digest": bytes(32)}, "statement_digest"),
        ({"signature_digest": bytes(32)}, "signature_digest"),
        ({"key_id": NEW_KEY.public_key.key_id}, "key_id"),
        ({"tenant": TenantRef(namespace="comms-tenant", id="acme")}, "tenant"),
    ],
)
def test_an_attestation_must_vouch_for_exactly_this_statement(change: dict[str, Any], term: str) -> None:
    statement = sign(receipt(), OLD_KEY)
    attestation = attestation_of(statement)
    attestation.MergeFrom(KeyAttestation(**change))

    with pytest.raises(AttestationInvalid) as refusal:
        verify_receipt(
            statement,
            key_set(receipt_key(KEY_STATE_REVOKED), new_receipt_key()),
            attestation=sign(attestation, NEW_KEY),
        )

    assert refusal.value.expected.startswith(term)
    assert refusal.value.presented.startswith(term)


def _by_the_revoked_key(attestation: KeyAttestation) -> SignedStatement:
    return sign(attestation, OLD_KEY)


def _by_a_capability_key(attestation: KeyAttestation) -> SignedStatement:
    return sign(attestation, PURPOSE_KEYS[KeyPurpose.Value("KEY_PURPOSE_CAPABILITY")])


def _by_a_stranger(attestation: KeyAttestation) -> SignedStatement:
    return sign(attestation, private_key("stranger"))


def _of_another_issuer(attestation: KeyAttestation) -> SignedStatement:
    attestation.issuer = "other.example"
    return sign(attestation, NEW_KEY)


def _forged(attestation: KeyAttestation) -> SignedStatement:
    statement = sign(attestation, private_key("stranger"))
    statement.signature.key_id = NEW_KEY.public_key.key_id
    return statement


def _another_kind(_: KeyAttestation) -> SignedStatement:
    return sign(receipt(), NEW_KEY)


@pytest.mark.parametrize(
    ("attest", "error"),
    [
        (_by_the_revoked_key, KeyRevoked),
        (_by_a_capability_key, KeyPurposeMismatch),
        (_by_a_stranger, KeyUnknown),
        (_of_another_issuer, IssuerMismatch),
        (_forged, SignatureInvalid),
        (_another_kind, PayloadTypeMismatch),
    ],
)
def test_only_a_current_receipt_key_of_the_issuer_vouches(
    attest: Callable[[KeyAttestation], SignedStatement], error: type[Exception]
) -> None:
    statement = sign(receipt(), OLD_KEY)
    keys = key_set(receipt_key(KEY_STATE_REVOKED), new_receipt_key())

    with pytest.raises(error):
        verify_receipt(statement, keys, attestation=attest(attestation_of(statement)))


def test_a_receipt_key_vouches_only_inside_its_scope() -> None:
    statement = sign(receipt(), OLD_KEY)
    attestation = sign(attestation_of(statement), NEW_KEY)

    for scope in ({"memory_namespace": "team/other"}, {"tenant": ("cognitum-tenant", "other")}):
        with pytest.raises(KeyScopeMismatch):
            verify_receipt(
                statement,
                key_set(receipt_key(KEY_STATE_REVOKED), new_receipt_key(scope)),
                attestation=attestation,
            )


def test_payload_classes_can_be_asked_for_by_type() -> None:
    assert {payload_type_of(message_class) for message_class in PAYLOAD_CLASSES.values()} == set(PAYLOAD_CLASSES)
