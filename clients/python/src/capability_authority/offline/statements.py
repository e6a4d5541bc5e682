"""Signed statements: exact payload bytes and one Ed25519 signature over their DSSE encoding (semantics §3).

What is signed is what is kept and what is read: bytes, never a message that was parsed and written again.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeVar

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from capability_authority.offline.digests import sha256
from capability_authority.offline.dsse_json import from_dsse_json, to_dsse_json
from capability_authority.offline.errors import (
    EnvelopeRefused,
    KeyUnknown,
    PayloadRefused,
    PayloadTypeMismatch,
    SignatureInvalid,
    StatementError,
)
from capability_authority.offline.instants import InstantError, instant_ms, timestamp
from capability_authority.offline.keys import PrivateKey, PublicKey
from capability_authority.offline.reading import read_exactly
from capability_authority.v1.statements_pb2 import (
    CommitCapability,
    CommitReceipt,
    DecisionReceipt,
    EvidenceClaim,
    Grant,
    Invocation,
    KeyAttestation,
    ProposalRevision,
    Revocation,
    RevocationHeartbeat,
    Signature,
    SignedStatement,
    ValidationReceipt,
)

__all__ = [
    "COMMIT_CAPABILITY",
    "COMMIT_RECEIPT",
    "DECISION_RECEIPT",
    "EVIDENCE_CLAIM",
    "GRANT",
    "INVOCATION",
    "KEY_ATTESTATION",
    "PAYLOAD_CLASSES",
    "PROPOSAL_REVISION",
    "REVOCATION",
    "REVOCATION_HEARTBEAT",
    "SIGNED_PAYLOAD_TYPES",
    "VALIDATION_RECEIPT",
    "EnvelopeRefused",
    "InstantError",
    "KeyLookup",
    "KeyUnknown",
    "PayloadRefused",
    "PayloadTypeMismatch",
    "SignatureInvalid",
    "StatementError",
    "digest_of",
    "encode",
    "from_dsse_json",
    "instant_ms",
    "open_statement",
    "pae",
    "parse_statement",
    "payload_type_of",
    "read_payload",
    "sign",
    "statement_digest",
    "timestamp",
    "to_dsse_json",
]

M = TypeVar("M", bound=Message)

KeyLookup = Callable[[str], PublicKey | None]
"""Answers for a key id with the key of that id, or None."""

COMMIT_CAPABILITY: Final = "application/vnd.capability-authority.commit-capability.v1+protobuf"
COMMIT_RECEIPT: Final = "application/vnd.capability-authority.commit-receipt.v1+protobuf"
DECISION_RECEIPT: Final = "application/vnd.capability-authority.decision-receipt.v1+protobuf"
EVIDENCE_CLAIM: Final = "application/vnd.capability-authority.evidence-claim.v1+protobuf"
GRANT: Final = "application/vnd.capability-authority.grant.v1+protobuf"
INVOCATION: Final = "application/vnd.capability-authority.invocation.v1+protobuf"
KEY_ATTESTATION: Final = "application/vnd.capability-authority.key-attestation.v1+protobuf"
PROPOSAL_REVISION: Final = "application/vnd.capability-authority.proposal-revision.v1+protobuf"
REVOCATION: Final = "application/vnd.capability-authority.revocation.v1+protobuf"
REVOCATION_HEARTBEAT: Final = "application/vnd.capability-authority.revocation-heartbeat.v1+protobuf"
VALIDATION_RECEIPT: Final = "application/vnd.capability-authority.validation-receipt.v1+protobuf"

PAYLOAD_CLASSES: Final[Mapping[str, type[Message]]] = MappingProxyType(
    {
        COMMIT_CAPABILITY: CommitCapability,
        COMMIT_RECEIPT: CommitReceipt,
        DECISION_RECEIPT: DecisionReceipt,
        EVIDENCE_CLAIM: EvidenceClaim,
        GRANT: Grant,
        INVOCATION: Invocation,
        KEY_ATTESTATION: KeyAttestation,
        PROPOSAL_REVISION: ProposalRevision,
        REVOCATION: Revocation,
        REVOCATION_HEARTBEAT: RevocationHeartbeat,
        VALIDATION_RECEIPT: ValidationReceipt,
    }
)
"""The message of every payload type."""

SIGNED_PAYLOAD_TYPES: Final = frozenset(PAYLOAD_CLASSES) - {PROPOSAL_REVISION}
"""Payload types of statements. A proposal revision is named by its digest and never signed by itself."""

_PAYLOAD_TYPES: Final = {message_class: payload_type for payload_type, message_class in PAYLOAD_CLASSES.items()}


def payload_type_of(message_class: type[Message]) -> str:
    """The payload type of a payload message. Raises `TypeError` for any other message."""
    try:
        return _PAYLOAD_TYPES[message_class]
    except KeyError:
        raise TypeError(f"{message_class.__name__} is not a payload message") from None


def pae(payload_type: str, payload: bytes) -> bytes:
    """The DSSE v1 pre-authentication encoding: what is signed and digested.

    Both parts are preceded by their length in bytes, so no byte can be moved from one to the other (case D11).
    """
    type_bytes = payload_type.encode("utf-8")
    return b"DSSEv1 %d %b %d %b" % (len(type_bytes), type_bytes, len(payload), payload)


def statement_digest(payload_type: str, payload: bytes) -> bytes:
    """The digest that names a statement, 32 bytes: SHA-256 of its pre-authentication encoding.

    It does not cover the signature: whoever could make a second signature valid would still not have a second
    statement (case E02).
    """
    return sha256(pae(payload_type, payload))


def digest_of(statement: SignedStatement) -> bytes:
    """`statement_digest` of a statement that need not be verified yet: 32 bytes."""
    return statement_digest(statement.payload_type, statement.payload)


def encode(message: Message) -> bytes:
    """The payload bytes of a payload message: its deterministic encoding.

    Raises `PayloadRefused` for a message that nobody could read back (unknown fields or enum values, instants out of
    range), and `TypeError` for anything but a payload message.
    """
    payload_type = payload_type_of(type(message))
    payload = message.SerializeToString(deterministic=True)
    read_payload(payload_type, payload, type(message))
    return payload


def sign(message: Message, private_key: PrivateKey) -> SignedStatement:
    """A new statement that says `message`. Raises as `encode`, and `TypeError` for a proposal revision."""
    payload_type = payload_type_of(type(message))
    if payload_type not in SIGNED_PAYLOAD_TYPES:
        raise TypeError(f"{type(message).__name__} is named by its digest and never signed")
    payload = encode(message)
    signature = Signature(key_id=private_key.public_key.key_id, signature=private_key.sign(pae(payload_type, payload)))
    return SignedStatement(payload_type=payload_type, payload=payload, signature=signature)


def parse_statement(data: bytes) -> SignedStatement:
    """Read the bytes of a statement, as found in a file or in request metadata; nothing is verified.

    Raises `EnvelopeRefused` unless `data` is exactly one statement, deterministically encoded and without unknown
    fields.
    """
    return read_exactly(data, SignedStatement, refusal=EnvelopeRefused)


def read_payload(payload_type: str, payload: bytes, expected: type[M]) -> M:
    """The payload message, read by the reading rule. Verify first: reading proves nothing about who wrote it.

    Raises `PayloadTypeMismatch` unless the payload type is the one of `expected`, and `PayloadRefused` unless the
    bytes have exactly one reading (cases D13, E11, I14). What the fields mean is not judged.
    """
    _require_type(payload_type, expected)
    return read_exactly(payload, expected)


def open_statement(statement: SignedStatement, *, expected: type[M], keys: KeyLookup) -> M:
    """Verify a statement, then read the very bytes that were verified.

    The key alone decides how it is verified: no field of a statement names an algorithm (case E06). Whether the key
    may sign such a statement is not judged here; `verification` does.

    Raises, in this order: `PayloadTypeMismatch`; `EnvelopeRefused` for unknown fields around the payload; `KeyUnknown`
    when `keys` has no key of exactly the id named; `SignatureInvalid`; `PayloadRefused`.
    """
    _require_type(statement.payload_type, expected)
    signature = statement.signature
    if len(UnknownFieldSet(statement)) or len(UnknownFieldSet(signature)):
        raise EnvelopeRefused("unknown_field")
    public_key = keys(signature.key_id)
    if public_key is None or public_key.key_id != signature.key_id:
        raise KeyUnknown(expected="the id of a known key", presented=signature.key_id)
    if not public_key.verify(signature.signature, pae(statement.payload_type, statement.payload)):
        raise SignatureInvalid(
            expected=f"a signature over this payload by {public_key.key_id}",
            presented=f"{len(signature.signature)} bytes that do not verify",
        )
    return read_exactly(statement.payload, expected)


def _require_type(payload_type: str, expected: type[Message]) -> None:
    if payload_type != payload_type_of(expected):
        raise PayloadTypeMismatch(expected=payload_type_of(expected), presented=payload_type)
