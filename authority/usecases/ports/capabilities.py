"""Commit capabilities: issued, looked after, revoked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from authority.domain.capability import OpenedCapability
from authority.domain.issuing import IssuingFacts, IssuingQuestion
from authority.domain.plan import Claim
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.usecases.ports.grants import Spend
from authority.usecases.ports.requests import RequestMark


@dataclass(frozen=True, slots=True)
class Offer:
    """What one request for a capability asks of the store, sent unchanged however often it must be asked.

    `offered` is signed already, or the refusal that rides along: what the commit key stands for answers before it.
    """

    mark: RequestMark
    claim: Claim
    offered: OpenedCapability | Refusal
    spend: Spend | None = None
    """None without a grant; what is refused spends nothing."""


@dataclass(frozen=True, slots=True)
class IssuedCapability:
    """A live capability, new or found."""

    capability: OpenedCapability
    replayed: bool


@dataclass(frozen=True, slots=True)
class CapabilityFate:
    """Whose a capability is and what became of it: neither consumed nor revoked, it may have expired."""

    holder: PrincipalRef
    receipt_id: str | None
    """Of the commit that consumed it."""
    is_revoked: bool


class Capabilities(Protocol):
    """Keeps issued capabilities. `deadline` is event loop time in seconds; each call is about one tenant."""

    async def issuing_facts(
        self, questions: Sequence[IssuingQuestion], deadline: float
    ) -> list[IssuingFacts | Refusal | Exception]:
        """The facts of each, in order, or a refusal: NOT_FOUND for a revision that there is not.

        Also OVERLOADED and DEPENDENCY_UNAVAILABLE. A defect of ours that one of them meets stands in its place.
        """
        ...

    async def issue(self, offers: Sequence[Offer], deadline: float) -> list[IssuedCapability | Refusal | Exception]:
        """Keeps each offered capability, or answers with what its commit key already stands for.

        One outcome each, in order, as if one were asked after the other. In order: IDEMPOTENCY_CONFLICT (request id or
        commit key used for another request), ALREADY_COMMITTED with the receipt's id, the live capability of the same
        claim, the higher of the offered refusal and REVOKED (the request id was used before, and a capability of the
        key was revoked), ALREADY_COMMITTED by another key, what stands against the chain of the offer's grant
        (KEY_REVOKED, EXPIRED, REVOKED), BUDGET_EXHAUSTED with the `dimension` of which a grant of the chain has too
        little left, the offered capability. A refused offer uses nothing up; a kept one is spent along the whole chain.

        Once sent an offer is never cancelled. Also IN_PROGRESS, CONTENTION, OVERLOADED and DEPENDENCY_UNAVAILABLE. A
        defect of ours that one of them meets stands in its place.
        """
        ...

    async def fate_of(self, tenant: TenantRef, capability_id: str) -> CapabilityFate | None:
        """What became of the capability; None when there is none."""
        ...


@dataclass(frozen=True, slots=True)
class RevokedCapability:
    """When a capability was revoked first, and whether that was before this call."""

    revoke_time: Instant
    replayed: bool


class Revocations(Protocol):
    """Withdraws what was issued, for ever. Each is a withdrawal: it excludes commits and is seen by every one after."""

    async def revoke_capability(
        self, mark: RequestMark, capability_id: str, now: Instant
    ) -> RevokedCapability | Refusal:
        """Revokes a capability that is issued or expired; one that is revoked already answers with its first time.

        Refusals: IDEMPOTENCY_CONFLICT, NOT_FOUND, ALREADY_COMMITTED with the receipt's id.
        """
        ...
