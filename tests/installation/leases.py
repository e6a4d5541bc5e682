"""What an operator sees in Redis of commits: leases of those that run, receipts of those that ended."""

from redis import Redis

from capability_authority.client import Committed
from capability_authority.offline import capability_fingerprint, to_wire
from tests.installation.team import Ready


def has_lease(redis_url: str, ready: Ready) -> bool:
    """Whether Redis says that the commit of just this content is running."""
    terms = ready.capability.terms
    fingerprint = capability_fingerprint(
        terms,
        content_digest=to_wire(terms.content_digest),
        media_type=terms.media_type,
        evidence_digests=[to_wire(digest) for digest in terms.evidence_digests],
    )
    with Redis.from_url(redis_url) as redis:
        leases = [redis.get(name) for name in redis.scan_iter("*:lease:*")]
    return any(fingerprint in lease for lease in leases if isinstance(lease, bytes))


def has_receipt(redis_url: str, committed: Committed) -> bool:
    """Whether Redis has just this receipt for whoever asks again."""
    payload = committed.receipt.statement.payload
    with Redis.from_url(redis_url) as redis:
        cached = [redis.get(name) for name in redis.scan_iter("*:replay:*")]
    return any(payload in entry for entry in cached if isinstance(entry, bytes))
