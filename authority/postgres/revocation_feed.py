"""The feed of revocations of each tenant: its own and those of the authority itself, in one order."""

from dataclasses import dataclass

from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal, malformed
from authority.domain.revocation import AUTHORITY_ITSELF, FeedItem, Revoked, RevokedKind
from authority.postgres import rows
from authority.postgres.connections import Database, await_standby
from authority.postgres.sql import query
from authority.usecases.ports import FeedNews


@dataclass(frozen=True, slots=True)
class PostgresRevocationFeed:
    """Implements `ports.RevocationFeed`. Nothing is told that a new primary might lack (case I18)."""

    database: Database

    async def news(self, tenant: TenantRef, after: int, size: int) -> FeedNews | Refusal:
        """Items after a sequence. The place is read first: what comes between follows what was there then."""
        feed = (str(tenant), str(AUTHORITY_ITSELF), after)
        async with self.database.transaction(tenant, AUTHORITY_ITSELF) as connection:
            place = await connection.fetchrow(query("feed_place"), *feed)
            assert place is not None  # It has no from clause.
            if after > place["last"]:
                return malformed(
                    "cursor",
                    "must not be ahead of this authority's feed: the database was restored to an earlier moment, or the"
                    " cursor is another's; begin again with 0",
                )
            found = await connection.fetch(query("feed_items"), *feed, size + 1)
            if found:
                await await_standby(connection)
        items, previous = [], place["before"]
        for row in found[:size]:
            items.append(FeedItem(_revoked(row), row["sequence"], previous))
            previous = row["sequence"]
        return FeedNews(items, has_more=len(found) > size, read_time=Instant(place["read_time"]))


def _revoked(row: rows.Row) -> Revoked:
    return Revoked(
        tenant=rows.tenant_ref(row["tenant"]),
        kind=RevokedKind(row["kind"]),
        subject=row["subject"],
        revoke_time=Instant(row["revoke_time"]),
        memory_namespace=row["memory_namespace"],
        content_digest=row["content_digest"],
    )
