"""Signed statements: their bytes are carried as they are."""

from google.protobuf.message import Message

from authority.domain import limits
from authority.domain.refusal import malformed, over_limit
from authority.domain.statement import Statement
from authority.rpc.convert.digests import key_id
from authority.rpc.convert.values import printable, require
from authority.rpc.refused import Refused
from capability_authority.v1.statements_pb2 import Signature, SignedStatement

_SIGNATURE_BYTES = 64


def statement(message: Message, field: str) -> Statement:
    """The statement in the field, which must be set. What its payload says is read by the use case."""
    require(message, field)
    return sent_statement(getattr(message, field), field)


def sent_statement(sent: SignedStatement, field: str) -> Statement:
    """The statement that stands at `field`."""
    if not sent.payload:
        raise Refused(malformed(f"{field}.payload", "required"))
    if len(sent.payload) > limits.STATEMENT_BYTES:
        raise Refused(over_limit(f"{field}.payload", f"{limits.STATEMENT_BYTES} bytes"))
    require(sent, "signature", f"{field}.")
    if len(sent.signature.signature) != _SIGNATURE_BYTES:
        raise Refused(malformed(f"{field}.signature.signature", f"must be {_SIGNATURE_BYTES} bytes"))
    return Statement(
        printable(sent.payload_type, f"{field}.payload_type", limits.ID_BYTES),
        sent.payload,
        key_id(sent.signature.key_id, f"{field}.signature.key_id"),
        sent.signature.signature,
    )


def statement_message(kept: Statement) -> SignedStatement:
    """The statement as it is sent, byte for byte."""
    signature = Signature(key_id=kept.key_id, signature=kept.signature)
    return SignedStatement(payload_type=kept.payload_type, payload=kept.payload, signature=signature)


def optional_statement_message(kept: Statement | None) -> SignedStatement | None:
    """The statement as it is sent, or nothing."""
    return None if kept is None else statement_message(kept)
