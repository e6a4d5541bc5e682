"""The kinds of statements that this authority reads, and how a payload of each becomes a domain value."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from google.protobuf.message import Message

from authority.domain import limits
from authority.domain.refusal import Refusal, malformed
from authority.domain.statement import Statement
from authority.signing.codec import fields
from authority.signing.codec.capability import decode_capability
from authority.signing.codec.decision import decode_decision
from authority.signing.codec.evidence import decode_evidence_claim
from authority.signing.codec.grant import decode_grant
from authority.signing.codec.invocation import decode_invocation
from authority.signing.codec.receipt import decode_receipt
from authority.signing.codec.validation import decode_validation
from capability_authority.offline import PayloadRefused, PayloadTypeMismatch, payload_type_of, read_payload
from capability_authority.v1 import statements_pb2

M = TypeVar("M", bound=Message)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class StatementKind(Generic[M, Value]):
    """One payload type. `name` is the request field that carries such a statement, and begins the path in a refusal."""

    name: str
    message: type[M]
    decode: Callable[[M], Value]

    def read(self, statement: Statement) -> Value | Refusal:
        """What the statement says, by the reading rule (semantics §3); it is not believed yet.

        MALFORMED names the field: `<name>.payload_type`, `<name>.signature.key_id`, `<name>.payload` when the bytes
        cannot be read, or the payload's own, as `<name>.expire_time`.
        """
        if len(statement.payload) > limits.STATEMENT_BYTES:
            return malformed(f"{self.name}.payload", f"must be at most {limits.STATEMENT_BYTES} bytes")
        try:
            message = read_payload(statement.payload_type, statement.payload, self.message)
            value = self.decode(message)
            fields.key_id(statement.key_id, "signature.key_id")
        except PayloadTypeMismatch as error:
            return malformed(f"{self.name}.payload_type", f"must be {error.expected}")
        except PayloadRefused as error:
            return malformed(f"{self.name}.{error.path or 'payload'}", error.problem)
        except fields.Misshapen as error:
            return malformed(f"{self.name}.{error.path}", error.problem)
        return value


CAPABILITY: Final = StatementKind("capability", statements_pb2.CommitCapability, decode_capability)
VALIDATION: Final = StatementKind("validation_receipt", statements_pb2.ValidationReceipt, decode_validation)
DECISION: Final = StatementKind("decision_receipt", statements_pb2.DecisionReceipt, decode_decision)
RECEIPT: Final = StatementKind("receipt", statements_pb2.CommitReceipt, decode_receipt)
EVIDENCE: Final = StatementKind("claim", statements_pb2.EvidenceClaim, decode_evidence_claim)
GRANT: Final = StatementKind("grant", statements_pb2.Grant, decode_grant)
INVOCATION: Final = StatementKind("proof", statements_pb2.Invocation, decode_invocation)

_TOLD: Final = (statements_pb2.Revocation, statements_pb2.RevocationHeartbeat)
ACCEPTED_PAYLOAD_TYPES: Final = tuple(
    sorted(
        payload_type_of(message)
        for message in (
            *(kind.message for kind in (CAPABILITY, VALIDATION, DECISION, RECEIPT, EVIDENCE, GRANT, INVOCATION)),
            *_TOLD,
        )
    )
)
"""What GetKeySet lists: every payload type that is read here, and those of the feed of revocations."""
