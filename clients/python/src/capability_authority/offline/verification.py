"""Judging statements against the keys of a pinned issuer, without a server (semantics §3).

A statement proves something only if it was signed by a key of the purpose that its payload type calls for, that may
sign for its tenant and memory namespace, that still counts, and if it names the pinned issuer.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

from google.protobuf.message import Message

from capability_authority.offline.digests import sha256, to_wire
from capability_authority.offline.errors import (
    AttestationInvalid,
    ContentMismatch,
    IssuerMismatch,
    KeyPurposeMismatch,
    KeyRevoked,
    KeyScopeMismatch,
    KeyUnknown,
    PayloadTypeMismatch,
)
from capability_authority.offline.key_set import KeyRecord, KeySet, KeySetRefused
from capability_authority.offline.revocations import RevocationView
from capability_authority.offline.statements import (
    COMMIT_CAPABILITY,
    COMMIT_RECEIPT,
    DECISION_RECEIPT,
    EVIDENCE_CLAIM,
    GRANT,
    INVOCATION,
    KEY_ATTESTATION,
    PAYLOAD_CLASSES,
    REVOCATION,
    REVOCATION_HEARTBEAT,
    VALIDATION_RECEIPT,
    digest_of,
    open_statement,
    payload_type_of,
)
from capability_authority.v1.statements_pb2 import (
    CommitCapability,
    CommitReceipt,
    DecisionReceipt,
    EvidenceClaim,
    Grant,
    Invocation,
    KeyAttestation,
    Revocation,
    RevocationHeartbeat,
    SignedStatement,
    ValidationReceipt,
)
from capability_authority.v1.types_pb2 import (
    KEY_PURPOSE_CAPABILITY,
    KEY_PURPOSE_DECISION,
    KEY_PURPOSE_GRANT,
    KEY_PURPOSE_HOLDER,
    KEY_PURPOSE_RECEIPT,
    KEY_PURPOSE_REVOCATION,
    KEY_PURPOSE_VALIDATION,
    KeyPurpose,
    KeyState,
    TenantRef,
)

__all__ = [
    "PURPOSES",
    "AttestationInvalid",
    "ContentMismatch",
    "IssuerMismatch",
    "KeyPurposeMismatch",
    "KeyRecord",
    "KeyRevoked",
    "KeyScopeMismatch",
    "KeySet",
    "KeySetRefused",
    "verify_as",
    "verify_receipt",
    "verify_statement",
]

M = TypeVar("M", bound=Message)

PURPOSES: Final[Mapping[str, "KeyPurpose.ValueType"]] = MappingProxyType(
    {
        COMMIT_CAPABILITY: KEY_PURPOSE_CAPABILITY,
        VALIDATION_RECEIPT: KEY_PURPOSE_VALIDATION,
        DECISION_RECEIPT: KEY_PURPOSE_DECISION,
        GRANT: KEY_PURPOSE_GRANT,
        COMMIT_RECEIPT: KEY_PURPOSE_RECEIPT,
        KEY_ATTESTATION: KEY_PURPOSE_RECEIPT,
        REVOCATION: KEY_PURPOSE_REVOCATION,
        REVOCATION_HEARTBEAT: KEY_PURPOSE_REVOCATION,
        INVOCATION: KEY_PURPOSE_HOLDER,
        EVIDENCE_CLAIM: KEY_PURPOSE_HOLDER,
    }
)
"""The one key purpose that may sign each payload type.

A grant that its parent's holder derived is signed by the holder key that the parent binds: `verify_grant_chain`.
"""


class _Claims(NamedTuple):
    """Of what a payload says, the part that decides which keys may sign it."""

    issuer: str | None
    """None for what a holder signs, who speaks for itself."""
    tenant: TenantRef
    memory_namespace: str | None
    """None for a payload that names none."""


def verify_statement(
    statement: SignedStatement, key_set: KeySet, *, revocations: RevocationView | None = None
) -> Message:
    """Verify a statement of any kind; what it says, as the message of its payload type.

    Raises as `verify_as`, with `PayloadTypeMismatch` for a payload type that is unknown or never signed.
    """
    if statement.payload_type not in PURPOSES:
        raise PayloadTypeMismatch(expected="a payload type of a statement", presented=statement.payload_type)
    return verify_as(statement, key_set, PAYLOAD_CLASSES[statement.payload_type], revocations=revocations)


def verify_as(
    statement: SignedStatement, key_set: KeySet, expected: type[M], *, revocations: RevocationView | None = None
) -> M:
    """Verify a statement of the kind `expected`; what it says.

    With `revocations`, what a feed has told (`RevocationFeed.view`), what it rests on must not have been withdrawn:
    the key that signed it, and a capability's id, holder, holder key, approval and grant, a decision's holder and
    approvals, a receipt's record, or a grant, its parent, its principals and its holder's key. Times are not judged:
    whether a capability or receipt has expired is asked against a clock, which is the caller's.

    Raises, in this order: `PayloadTypeMismatch`, `KeyUnknown`, `KeyPurposeMismatch`, `EnvelopeRefused`,
    `SignatureInvalid`, `PayloadRefused`, `IssuerMismatch`, `KeyScopeMismatch`, `KeyRevoked`, `Withdrawn`.
    """
    message, record = _open(statement, key_set, expected)
    if not _counts(record, revocations):
        raise KeyRevoked(expected="an active or retiring key", presented=_described(record))
    if revocations is not None:
        revocations.require_standing(message, digest=digest_of(statement))
    return message


def verify_receipt(
    statement: SignedStatement,
    key_set: KeySet,
    *,
    attestation: SignedStatement | None = None,
    content: bytes | None = None,
    revocations: RevocationView | None = None,
) -> CommitReceipt:
    """Verify a commit receipt; what it says.

    When the key that signed it was revoked since, `attestation` must vouch for exactly this statement and signature;
    it is not looked at otherwise. When `content` is given, the receipt must be for exactly these bytes. With
    `revocations` the record must not have been withdrawn since; the receipt proves all the same that it was written.

    Raises as `verify_as`, and `AttestationInvalid`, `ContentMismatch`.
    """
    receipt, record = _open(statement, key_set, CommitReceipt)
    if not _counts(record, revocations):
        if attestation is None:
            raise KeyRevoked(expected="an active or retiring key, or an attestation", presented=_described(record))
        _require_vouched(statement, receipt, attestation, key_set, revocations)
    if content is not None and sha256(content) != receipt.capability.content_digest:
        raise ContentMismatch(
            expected=f"sha256:{receipt.capability.content_digest.hex()}", presented=to_wire(sha256(content))
        )
    if revocations is not None:
        revocations.require_standing(receipt)
    return receipt


def _counts(record: KeyRecord, revocations: RevocationView | None) -> bool:
    """Whether signatures of the key count, by the key set and by the feed, which may be newer."""
    return record.verifies and not (revocations and revocations.revokes_key(record.public_key.key_id))


def _open(statement: SignedStatement, key_set: KeySet, expected: type[M]) -> tuple[M, KeyRecord]:
    """The message and its signer, once everything holds but that the key still counts."""
    record = _signer(statement, key_set, expected)
    message = open_statement(statement, expected=expected, keys=lambda _: record.public_key)
    claims = _claims(message)
    if claims.issuer not in (None, key_set.issuer):
        raise IssuerMismatch(expected=key_set.issuer, presented=str(claims.issuer))
    _require_scope(record, claims.tenant, claims.memory_namespace)
    return message, record


def _signer(statement: SignedStatement, key_set: KeySet, expected: type[Message]) -> KeyRecord:
    payload_type = payload_type_of(expected)
    if statement.payload_type != payload_type or payload_type not in PURPOSES:
        raise PayloadTypeMismatch(expected=payload_type, presented=statement.payload_type)
    record = key_set.record(statement.signature.key_id)
    if record is None:
        raise KeyUnknown(expected=f"a trusted key of {key_set.issuer}", presented=statement.signature.key_id)
    purpose = PURPOSES[payload_type]
    if record.purpose != purpose:
        raise KeyPurposeMismatch(expected=_purpose_name(purpose), presented=_purpose_name(record.purpose))
    return record


def _require_scope(record: KeyRecord, tenant: TenantRef, memory_namespace: str | None) -> None:
    if not record.covers(tenant, memory_namespace):
        raise KeyScopeMismatch(
            expected=f"tenant {record.tenant or 'any'}, memory namespace {record.memory_namespace or 'any'}",
            presented=f"tenant {(tenant.namespace, tenant.id)}, memory namespace {memory_namespace or 'none'}",
        )


def _claims(message: Message) -> _Claims:
    match message:
        case CommitReceipt():
            return _Claims(message.issuer, message.capability.tenant, message.capability.memory_namespace)
        case CommitCapability() | ValidationReceipt() | DecisionReceipt():
            return _Claims(message.issuer, message.tenant, message.memory_namespace)
        case Grant():
            # It can name several memory namespaces: a key that is good for one of them signs none.
            return _Claims(message.issuer, message.tenant, "")
        case KeyAttestation() | Revocation() | RevocationHeartbeat():
            return _Claims(message.issuer, message.tenant, None)
        case Invocation() | EvidenceClaim():
            return _Claims(None, message.tenant, None)
        case _:
            raise TypeError(f"{type(message).__name__} is never signed")


def _require_vouched(
    statement: SignedStatement,
    receipt: CommitReceipt,
    attestation: SignedStatement,
    key_set: KeySet,
    revocations: RevocationView | None,
) -> None:
    vouching, record = _open(attestation, key_set, KeyAttestation)
    if not _counts(record, revocations):
        raise KeyRevoked(expected="an attestation by an active or retiring key", presented=_described(record))
    _require_scope(record, receipt.capability.tenant, receipt.capability.memory_namespace)
    _require_equal("tenant", _tenant_name(receipt.capability.tenant), _tenant_name(vouching.tenant))
    _require_equal("statement_digest", digest_of(statement).hex(), vouching.statement_digest.hex())
    _require_equal("signature_digest", sha256(statement.signature.signature).hex(), vouching.signature_digest.hex())
    _require_equal("key_id", statement.signature.key_id, vouching.key_id)


def _require_equal(term: str, expected: str, presented: str) -> None:
    if presented != expected:
        raise AttestationInvalid(expected=f"{term} {expected}", presented=f"{term} {presented}")


def _tenant_name(tenant: TenantRef) -> str:
    return f"{tenant.namespace!r} {tenant.id!r}"


def _described(record: KeyRecord) -> str:
    state = KeyState.Name(record.state) if record.state in KeyState.values() else f"state {record.state}"
    compromised = "" if record.compromised_since_ms is None else f", compromised since {record.compromised_since_ms} ms"
    return f"{record.public_key.key_id}, {state}{compromised}"


def _purpose_name(purpose: "KeyPurpose.ValueType") -> str:
    return KeyPurpose.Name(purpose) if purpose in KeyPurpose.values() else f"purpose {purpose}"
