"""The payload Invocation: the one that holders sign."""

from authority.domain.invocation import Invocation
from authority.signing.codec import fields
from authority.signing.codec.refs import principal_message, tenant_message
from capability_authority.offline import timestamp
from capability_authority.offline.invocation import MAX_NONCE_BYTES, MIN_NONCE_BYTES
from capability_authority.v1 import statements_pb2


def encode_invocation(invocation: Invocation) -> statements_pb2.Invocation:
    """The message that says the Invocation."""
    return statements_pb2.Invocation(
        tenant=tenant_message(invocation.tenant),
        principal=principal_message(invocation.principal),
        audience=invocation.audience,
        method=invocation.method,
        request_digest=invocation.request_digest,
        nonce=invocation.nonce,
        issue_time=timestamp(invocation.issue_time),
    )


def decode_invocation(message: statements_pb2.Invocation) -> Invocation:
    """The Invocation. Raises `Misshapen` for what none can say.

    Audience and method are compared with those of the call and kept nowhere, so any text may stand there: another one
    is a proof for another call, not a broken proof.
    """
    fields.between(len(message.nonce), MIN_NONCE_BYTES, MAX_NONCE_BYTES, "nonce")
    return Invocation(
        tenant=fields.tenant(message.tenant, "tenant"),
        principal=fields.principal(message.principal, "principal"),
        audience=message.audience,
        method=message.method,
        request_digest=fields.digest(message.request_digest, "request_digest"),
        nonce=message.nonce,
        issue_time=fields.instant(message, "issue_time"),
    )
