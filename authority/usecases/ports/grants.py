"""Grants: kept, looked up, revoked; and what was spent of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from authority.domain.audit import AuditEvent
from authority.domain.grant import OpenedGrant
from authority.domain.grant_use import Spent
from authority.domain.identity import Principal
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal
from authority.usecases.ports.requests import RequestMark


@dataclass(frozen=True, slots=True)
class KeptGrant:
    """A grant that this authority made, or has met, and when it was revoked first."""

    opened: OpenedGrant
    revoke_time: Instant | None


@dataclass(frozen=True, slots=True)
class MadeGrant:
    """A grant that this authority made, by this call or by an earlier one of the same request id."""

    grant: OpenedGrant
    replayed: bool


@dataclass(frozen=True, slots=True)
class Spend:
    """What one use costs the grant that it is made under, and each of its ancestors, beside that use."""

    grant_digest: bytes
    tokens: int = 0
    """Of a proposal's costs, in and out; as `usd_micros` at most what an int64 holds."""
    usd_micros: int = 0


@dataclass(frozen=True, slots=True)
class ChainFacts:
    """The stored state that the use of a chain rests on."""

    unmet: frozenset[bytes]
    """Digests of the blocks that are not kept: a holder made them offline, and they are used for the first time."""
    refusal: Refusal | None
    """KEY_REVOKED for a key that a holder is bound to, REVOKED for a block, the subject or a holder; or None."""
    subject: Principal | None
    """None when it is not active."""


@dataclass(frozen=True, slots=True)
class RevokedGrant:
    """When a grant was revoked first, and whether that was before this call."""

    revoke_time: Instant
    replayed: bool


def keeping_event(mark: RequestMark, block: OpenedGrant, now: Instant) -> AuditEvent:
    """What the audit log tells of a block that is kept for the first time: made as a root, by exchange, or met."""
    made = "grant.exchange" if block.terms.parent_digest else "grant.issue"
    return mark.event(
        made if block.terms.issuer else "grant.meet",
        block.name,
        ("", "active"),
        now,
        correlation_id=block.terms.correlation_id,
    )


def revoking_event(mark: RequestMark, grant: OpenedGrant, now: Instant) -> AuditEvent:
    """What the audit log tells of a grant's revocation."""
    return mark.event("grant.revoke", grant.name, ("active", "revoked"), now, correlation_id=grant.terms.correlation_id)


class Grants(Protocol):
    """Keeps grants. Chains are root first and end in the grant that is meant; each is of one tenant."""

    async def chain_of(self, tenant: TenantRef, digest: bytes) -> tuple[KeptGrant, ...]:
        """The kept grant with its ancestors; empty when there is none."""
        ...

    async def facts_of(self, chain: Sequence[OpenedGrant]) -> ChainFacts:
        """What is stored of the chain, as one moment shows it."""
        ...

    async def policy_version(self, tenant: TenantRef, wanted: bytes) -> bytes | None:
        """`wanted` when that policy is loaded; for b'' the one that all memory namespaces of the tenant are under.

        None when there is no such one.
        """
        ...

    async def keep(self, mark: RequestMark, chain: Sequence[OpenedGrant], now: Instant) -> None:
        """Keeps those blocks that were made offline and are not kept yet; told of as `grant.meet`."""
        ...

    async def made_by(self, mark: RequestMark) -> MadeGrant | Refusal | None:
        """What the request id was answered with; None for a new one, IDEMPOTENCY_CONFLICT for another request's."""
        ...

    async def add(self, mark: RequestMark, chain: Sequence[OpenedGrant], now: Instant) -> MadeGrant | Refusal:
        """Keeps the last block, which this authority made, and whatever of its ancestors is not kept yet.

        The request id used before for the same request: what was made then, and nothing is kept. What becomes of an
        ancestor meanwhile becomes of the new block, which is read as part of its chain. Refusal: IDEMPOTENCY_CONFLICT.
        """
        ...

    async def revoke(self, mark: RequestMark, chain: Sequence[OpenedGrant], now: Instant) -> RevokedGrant | Refusal:
        """Revokes the last block; one that was made offline and never met is kept to stay revoked.

        It excludes the tenant's commits, and no capability issued under the grant or a descendant is committed once
        it has answered. Revoked before: the first time. Refusal: IDEMPOTENCY_CONFLICT.
        """
        ...

    async def spent(self, tenant: TenantRef, digests: Sequence[bytes], now: Instant) -> tuple[Spent, ...]:
        """What was spent of each grant, in order; nothing of one that is not kept."""
        ...

    async def spend(self, tenant: TenantRef, action: str, spend: Spend, now: Instant) -> Refusal | None:
        """Spends what a read costs along the chain of a kept grant. A read has no name: asked twice, it costs twice.

        None once it is durably spent. Otherwise nothing is: what stands against the chain now (KEY_REVOKED, EXPIRED,
        REVOKED), or BUDGET_EXHAUSTED with the `dimension` of which a block has too little left, root first.
        """
        ...
