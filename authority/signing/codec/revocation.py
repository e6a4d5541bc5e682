"""The payloads of the feed of revocations: its items, and what says that there are no others (semantics §3)."""

from authority.domain.references import TenantRef
from authority.domain.revocation import FeedEnd, FeedItem
from authority.signing.codec.refs import tenant_message
from authority.signing.codec.words import REVOKED_KINDS
from capability_authority.offline import timestamp
from capability_authority.v1 import statements_pb2


def encode_revocation(issuer: str, tenant: TenantRef, item: FeedItem) -> statements_pb2.Revocation:
    """The message that says the item, in the feed of this tenant: what was withdrawn everywhere is in every feed."""
    revoked = item.revoked
    return statements_pb2.Revocation(
        issuer=issuer,
        tenant=tenant_message(tenant),
        sequence=item.sequence,
        previous_sequence=item.previous_sequence,
        kind=REVOKED_KINDS.encode(revoked.kind),
        subject=revoked.subject,
        memory_namespace=revoked.memory_namespace,
        content_digest=revoked.content_digest or b"",
        revoke_time=timestamp(revoked.revoke_time),
    )


def encode_heartbeat(issuer: str, end: FeedEnd) -> statements_pb2.RevocationHeartbeat:
    """The message that says how far the feed goes."""
    return statements_pb2.RevocationHeartbeat(
        issuer=issuer,
        tenant=tenant_message(end.tenant),
        sequence=end.sequence,
        as_of_time=timestamp(end.as_of),
    )
