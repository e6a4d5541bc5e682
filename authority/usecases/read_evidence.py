"""Reads evidence by its digest (semantics §6, evidence.read)."""

from dataclasses import dataclass

from authority.domain.evidence import Evidence, EvidenceState, may_read_evidence
from authority.domain.grant import GrantAction
from authority.domain.grant_use import GrantUse
from authority.domain.identity import Caller, Right
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.domain.verify import Here
from authority.usecases.admit import Admit
from authority.usecases.grants.act_under import ActUnderGrant
from authority.usecases.grants.presented import PresentedGrant
from authority.usecases.ports import Clock, EvidenceStore, RequestMark

_ENOUGH = (Right.READ, Right.DECIDE, Right.PROPOSE)
"""Any of them lets ask; what is answered depends on which."""
_NOT_FOUND = Refusal(Reason.NOT_FOUND)


@dataclass(frozen=True, slots=True)
class EvidenceQuery:
    """Which evidence to read. `mark` names the call to the audit log when it presents a grant; it claims no request."""

    digest: bytes
    mark: RequestMark
    grant: PresentedGrant | None = None


@dataclass(frozen=True, slots=True)
class ReadEvidence:
    """NOT_FOUND for what is absent, of another tenant, invisible or not approved yet, alike (case G02)."""

    admit: Admit
    evidence: EvidenceStore
    act: ActUnderGrant
    clock: Clock
    here: Here

    async def __call__(self, caller: Caller, asked: EvidenceQuery) -> Evidence | Refusal:
        """The evidence with its content or reference.

        Refusals: NOT_ALLOWED without any right to it, NOT_FOUND; under a grant also what `ActUnderGrant` and the use of
        the grant are refused for, BUDGET_EXHAUSTED among it: asking costs a use, whatever is found.
        """
        if refusal := await self.admit(caller):
            return refusal
        if asked.grant:
            return await self._by_grant(caller, asked, asked.grant)
        if not any(caller.principal.may(right) for right in _ENOUGH):
            return Refusal(Reason.NOT_ALLOWED, {"right": Right.READ.value})
        found = await self.evidence.get(caller.tenant, asked.digest, caller.ref)
        may = found is not None and may_read_evidence(caller.principal, found)
        return found if found and may else _NOT_FOUND

    async def _by_grant(self, caller: Caller, asked: EvidenceQuery, presented: PresentedGrant) -> Evidence | Refusal:
        """What the grant's subject may read now, where the chain allows as much; never what was not approved."""
        delegation = await self.act(caller, presented, asked.mark)
        if isinstance(delegation, Refusal):
            return delegation
        resource = f"evidence/sha256:{asked.digest.hex()}"
        use = GrantUse(action=GrantAction.EVIDENCE_READ.value, audience=self.here.audience, resource=resource)
        if refusal := delegation.judge(use, self.clock.now()):
            return refusal
        if not delegation.subject.may(Right.READ):
            return Refusal(Reason.NOT_ALLOWED, {"right": Right.READ.value})
        if refusal := await self.act.spend_read(delegation, GrantAction.EVIDENCE_READ):
            return refusal
        found = await self.evidence.get(caller.tenant, asked.digest, delegation.subject.ref)
        return found if found and found.state is EvidenceState.APPROVED else _NOT_FOUND
