"""Withdraws a commit capability for ever (semantics §1, §5)."""

from dataclasses import dataclass

from authority.domain.identity import Caller
from authority.domain.issuing import may_revoke
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.admit import Admit
from authority.usecases.ports import Capabilities, Clock, RequestMark, Revocations, RevokedCapability


@dataclass(frozen=True, slots=True)
class RevocationRequest:
    """Which capability to withdraw."""

    mark: RequestMark
    capability_id: str


@dataclass(frozen=True, slots=True)
class RevokeCapability:
    """Once it has answered, nothing is committed with the capability any more."""

    admit: Admit
    capabilities: Capabilities
    revocations: Revocations
    clock: Clock

    async def __call__(self, caller: Caller, request: RevocationRequest) -> RevokedCapability | Refusal:
        """When it was revoked first.

        Refusals: NOT_FOUND for what is absent or none of the caller's business, which sound alike (case G02);
        ALREADY_COMMITTED with the receipt's id; IDEMPOTENCY_CONFLICT.
        """
        if refusal := await self.admit(caller):
            return refusal
        # Looked up before the tenant's commits are made to wait: nobody may stop them by asking for what is not theirs.
        # A capability never vanishes and never changes hands.
        fate = await self.capabilities.fate_of(caller.tenant, request.capability_id)
        if fate is None or not may_revoke(caller, fate.holder):
            return Refusal(Reason.NOT_FOUND)
        return await self.revocations.revoke_capability(request.mark, request.capability_id, self.clock.now())
