"""The payload CommitReceipt."""

from authority.domain.plan import CommitReceipt
from authority.signing.codec import fields
from authority.signing.codec.capability import decode_capability, encode_capability
from capability_authority.offline import timestamp
from capability_authority.v1 import statements_pb2


def encode_receipt(receipt: CommitReceipt) -> statements_pb2.CommitReceipt:
    """The message that says the receipt."""
    return statements_pb2.CommitReceipt(
        receipt_id=receipt.receipt_id,
        issuer=receipt.issuer,
        record_id=receipt.record_id,
        capability=encode_capability(receipt.capability),
        capability_digest=receipt.capability_digest,
        request_fingerprint=receipt.request_fingerprint,
        commit_time=timestamp(receipt.commit_time),
    )


def decode_receipt(message: statements_pb2.CommitReceipt) -> CommitReceipt:
    """The receipt. Raises `Misshapen` for what none can say."""
    return CommitReceipt(
        receipt_id=fields.uuid(message.receipt_id, "receipt_id"),
        issuer=fields.identifier(message.issuer, "issuer"),
        record_id=fields.uuid(message.record_id, "record_id"),
        capability=fields.within("capability", decode_capability, message.capability),
        capability_digest=fields.digest(message.capability_digest, "capability_digest"),
        request_fingerprint=fields.digest(message.request_fingerprint, "request_fingerprint"),
        commit_time=fields.instant(message, "commit_time"),
    )
