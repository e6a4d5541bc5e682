"""The port `RevocationFeed`."""

from dataclasses import dataclass

from authority.domain import limits
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal, malformed
from authority.domain.revocation import AUTHORITY_ITSELF, FeedItem
from authority.inprocess.tables import Tables
from authority.usecases.ports import FeedNews


@dataclass(frozen=True, slots=True)
class InProcessRevocationFeed:
    """Implements `ports.RevocationFeed`."""

    tables: Tables

    async def news(self, tenant: TenantRef, after: int, size: int) -> FeedNews | Refusal:
        """Items after a sequence. There is no clock here that could say anything against the service's."""
        feed = sorted(
            (sequence, revoked)
            for sequence, revoked in self.tables.revocations.items()
            if revoked.tenant in (tenant, AUTHORITY_ITSELF)
        )
        before = [0, *(sequence for sequence, _ in feed)]
        if after > before[-1]:
            return malformed("cursor", "must not be ahead of this authority's feed")
        items = [
            FeedItem(revoked, sequence, previous)
            for previous, (sequence, revoked) in zip(before, feed, strict=False)
            if sequence > after
        ]
        return FeedNews(items[:size], has_more=len(items) > size, read_time=Instant(limits.LATEST_MS))
