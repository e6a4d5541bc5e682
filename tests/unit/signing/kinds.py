"""Every payload kind with its codec and its place in `Statements`, so that one test can be about all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message

from authority.domain.statement import KeyPurpose, Statement
from authority.signing.codec.attestation import decode_attestation, encode_attestation
from authority.signing.codec.capability import decode_capability, encode_capability
from authority.signing.codec.decision import decode_decision, encode_decision
from authority.signing.codec.evidence import decode_evidence_claim, encode_evidence_claim
from authority.signing.codec.grant import decode_grant, encode_grant
from authority.signing.codec.invocation import decode_invocation, encode_invocation
from authority.signing.codec.receipt import decode_receipt, encode_receipt
from authority.signing.codec.validation import decode_validation, encode_validation
from authority.signing.statements import StatementReader
from capability_authority.offline import PrivateKey, pae, payload_type_of
from tests.unit.signing import samples


@dataclass(frozen=True, slots=True)
class Kind:
    """`purpose` is None for what no issuer key signs; `read` is None for what the authority never reads."""

    name: str
    sample: Any
    encode: Callable[[Any], Message]
    decode: Callable[[Any], Any]
    purpose: KeyPurpose | None
    read: Callable[[StatementReader, Statement], Any] | None

    @property
    def payload_type(self) -> str:
        """The payload type."""
        return payload_type_of(type(self.message()))

    def message(self) -> Message:
        """The sample as a message."""
        return self.encode(self.sample)

    def payload(self) -> bytes:
        """The sample's payload bytes."""
        return self.message().SerializeToString(deterministic=True)


CAPABILITY = Kind(
    "capability",
    samples.CAPABILITY,
    encode_capability,
    decode_capability,
    KeyPurpose.CAPABILITY,
    StatementReader.open_capability,
)
VALIDATION = Kind(
    "validation_receipt",
    samples.VALIDATION,
    encode_validation,
    decode_validation,
    KeyPurpose.VALIDATION,
    StatementReader.open_validation,
)
DECISION = Kind(
    "decision_receipt",
    samples.DECISION,
    encode_decision,
    decode_decision,
    KeyPurpose.DECISION,
    StatementReader.open_decision,
)
RECEIPT = Kind(
    "receipt", samples.RECEIPT, encode_receipt, decode_receipt, KeyPurpose.RECEIPT, StatementReader.open_receipt
)
EVIDENCE = Kind(
    "claim", samples.CLAIM, encode_evidence_claim, decode_evidence_claim, None, StatementReader.open_evidence_claim
)
GRANT = Kind("grant", samples.GRANT, encode_grant, decode_grant, KeyPurpose.GRANT, StatementReader.open_grant)
INVOCATION = Kind("invocation", samples.INVOCATION, encode_invocation, decode_invocation, None, None)
ATTESTATION = Kind("attestation", samples.ATTESTATION, encode_attestation, decode_attestation, KeyPurpose.RECEIPT, None)

ALL = (CAPABILITY, VALIDATION, DECISION, RECEIPT, EVIDENCE, GRANT, INVOCATION, ATTESTATION)
READ = (CAPABILITY, VALIDATION, DECISION, RECEIPT, GRANT)
"""What callers present or the store gives back."""


def name_of(kind: Kind) -> str:
    """For the names of parametrized tests."""
    return kind.name


def signed(payload_type: str, payload: bytes, private_key: PrivateKey) -> Statement:
    """A statement over any bytes at all, which the offline package would never sign."""
    return Statement(payload_type, payload, private_key.public_key.key_id, private_key.sign(pae(payload_type, payload)))
