"""How decisions and capabilities stand now, for verifiers that only know their ids."""

from typing import Protocol

from authority.domain.action_judgement import CapabilityStanding, DecisionStanding
from authority.domain.references import Instant, TenantRef


class Standings(Protocol):
    """Reads what a commit would be refused for, before anybody tries; what it says may be over a moment later."""

    async def decision(self, tenant: TenantRef, digest: bytes, now: Instant) -> DecisionStanding | None:
        """The decision, and the highest of all that a commit by it would meet.

        KEY_REVOKED (the key of its validation, its own, an external authority's), POLICY_DENIED, EXPIRED, REVOKED (the
        holder, or a tombstone), NOT_VALIDATED, APPROVAL_REQUIRED. That the proposal was committed stands against none.
        """
        ...

    async def capability(self, tenant: TenantRef, capability_id: str, now: Instant) -> CapabilityStanding | None:
        """The capability, and the highest of what stands against it, beside what its decision stands for.

        KEY_REVOKED (its key, the holder's, one of its grant's), EXPIRED (replaced, or its grant), REVOKED (it, its
        holder or its grant), ALREADY_COMMITTED `receipt_id`. Its own times are in its terms.
        """
        ...
