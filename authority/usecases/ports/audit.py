"""What is told of changes: the audit log, the feed of revocations, counts of refusals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from authority.domain.audit import AuditFilter, ToldEvent
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.revocation import FeedItem
from authority.domain.tally import Counted


@dataclass(frozen=True, slots=True)
class AuditNews:
    """What became visible since a position, and the position after it."""

    events: Sequence[ToldEvent]
    position: str
    has_more: bool
    """Whether more was visible than was asked for: the position is in the midst of it."""
    read_time: Instant
    """By the store's clock, before it was read: what was acknowledged earlier had become visible."""


class AuditLog(Protocol):
    """Reads the audit log of one tenant. Positions are texts that only the store understands, `""` is the beginning."""

    async def page(
        self, tenant: TenantRef, wanted: AuditFilter, *, oldest_first: bool, after: str, size: int
    ) -> Sequence[ToldEvent]:
        """Events by their ids, rising or falling, after the id in `after` (empty for the first page).

        An event that becomes visible while pages are turned may have a smaller id than those that were shown.
        """
        ...

    async def now(self, tenant: TenantRef) -> str:
        """The position after everything that is visible now."""
        ...

    async def news(self, tenant: TenantRef, wanted: AuditFilter, after: str, size: int) -> AuditNews | Refusal:
        """At most `size` events that became visible after the position: each once, whatever commits meanwhile.

        MALFORMED `cursor` for a position of another database, or of this one before it was restored or failed over.
        """
        ...

    async def changed(self, tenants: Sequence[TenantRef], since: str) -> tuple[frozenset[TenantRef], str]:
        """Which of the tenants have events that were not visible at `since`, and what to ask with next.

        All of them for an empty `since`. One cheap question, whatever the number of tenants and of those who watch.
        """
        ...


@dataclass(frozen=True, slots=True)
class FeedNews:
    """Items of a feed after a place, in its order; `has_more` when more were there than were asked for."""

    items: Sequence[FeedItem]
    has_more: bool
    read_time: Instant
    """By the store's clock, before it was read: what was acknowledged earlier was in the feed."""


class RevocationFeed(Protocol):
    """Reads what was withdrawn in a tenant, and in all of them: whoever has seen an item has seen all before it."""

    async def news(self, tenant: TenantRef, after: int, size: int) -> FeedNews | Refusal:
        """At most `size` items whose sequence is greater than `after`.

        MALFORMED `cursor` for one ahead of the feed: the database was put back to an earlier moment.
        """
        ...


class RefusalCounts(Protocol):
    """Keeps how often callers were refused or answered again (semantics §9)."""

    async def add(self, counts: Mapping[Counted, int]) -> None:
        """Adds to what is counted already; what is older than a quarter of a year is forgotten in time."""
        ...
