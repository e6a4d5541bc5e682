"""Sealed tokens: where a page or a watch goes on, and how fresh an answer must be."""

from typing import Protocol

from authority.domain.freshness import Freshness
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal


class PageTokens(Protocol):
    """Page tokens are sealed, expire, and are bound to tenant, caller and query (semantics §8)."""

    def seal(self, binding: str, position: str, now: Instant) -> str:
        """A token that only the same binding opens within its life."""
        ...

    def open(self, binding: str, token: str, now: Instant) -> str | Refusal:
        """The position, or MALFORMED for a token that is foreign, stale or made up."""
        ...


class RevisionTokens(Protocol):
    """Revision tokens are sealed, bound to a tenant, and do not expire (semantics §8)."""

    def seal(self, tenant: TenantRef, freshness: Freshness) -> str:
        """A token of at most 512 characters that only a call of the tenant opens."""
        ...

    def open(self, tenant: TenantRef, token: str) -> Freshness | Refusal:
        """What it stands for, or MALFORMED `at_least_as_fresh_as` for one that is foreign or made up."""
        ...


class Cursors(Protocol):
    """Positions of watches, sealed: opaque to callers, bound to tenant, caller and query, for ever (semantics §8)."""

    def seal(self, binding: str, position: str) -> str:
        """A cursor that only the same binding opens."""
        ...

    def open(self, binding: str, cursor: str) -> str | Refusal:
        """The position, or MALFORMED `cursor` for what is foreign or made up."""
        ...
