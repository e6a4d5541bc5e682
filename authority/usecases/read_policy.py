"""Tells what a policy version says, to whoever has to understand a decision (semantics §7)."""

from dataclasses import dataclass

from authority.domain.identity import Caller
from authority.domain.policy_version import PolicyVersion, may_read_policy
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.admit import Admit
from authority.usecases.ports import PolicyVersions


@dataclass(frozen=True, slots=True)
class GetPolicyVersion:
    """Reads one bundle. What never decided in the caller's tenant is none of its business."""

    admit: Admit
    policies: PolicyVersions

    async def __call__(self, caller: Caller, version: bytes) -> PolicyVersion | Refusal:
        """The bundle. Refusals: NOT_ALLOWED; NOT_FOUND for what is not loaded or never decided there, alike."""
        if refusal := await self.admit(caller):
            return refusal
        if not may_read_policy(caller):
            return Refusal(Reason.NOT_ALLOWED)
        return await self.policies.of_tenant(caller.tenant, version) or Refusal(Reason.NOT_FOUND)
