"""Records a person's decision on one exact proposal revision (semantics §7)."""

from dataclasses import dataclass

from authority.domain import limits
from authority.domain.decision import Approval, ApprovalVerdict
from authority.domain.identity import Caller, Right, require
from authority.domain.proposal import ProposalState
from authority.domain.reasons import Reason
from authority.domain.references import Instant, after
from authority.domain.refusal import Refusal, binding_mismatch, malformed
from authority.usecases.admit import Admit
from authority.usecases.ports import Approvals, Clock, Identifiers, Proposals, RecordedApproval, RequestMark

_WHEN = "must lie in the future, at most 30 days away"
_STATE_AFTER = {
    ApprovalVerdict.APPROVE: ProposalState.APPROVED,
    ApprovalVerdict.REJECT: ProposalState.REJECTED,
    ApprovalVerdict.REQUEST_CHANGES: ProposalState.CHANGES_REQUESTED,
    ApprovalVerdict.REVOKE: ProposalState.VALIDATED,
}


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What was looked at and what was decided. Without `expire_time` an approval counts for 30 days."""

    mark: RequestMark
    proposal_id: str
    revision: int
    proposal_digest: bytes
    verdict: ApprovalVerdict
    note: str
    expire_time: Instant | None


@dataclass(frozen=True, slots=True)
class DecideProposal:
    """Keeps an append-only decision; nobody decides on their own proposal."""

    admit: Admit
    proposals: Proposals
    approvals: Approvals
    clock: Clock
    identifiers: Identifiers

    async def __call__(self, caller: Caller, request: ApprovalRequest) -> RecordedApproval | Refusal:
        """The decision's reference and the state that it left the revision in.

        Refusals: NOT_ALLOWED, BINDING_MISMATCH `proposal_digest`, NOT_FOUND, NOT_VALIDATED, ALREADY_COMMITTED,
        IDEMPOTENCY_CONFLICT, MALFORMED for an expiry that is over or beyond the limit, unless it is a retry.
        """
        if refusal := await self.admit(caller) or require(caller, Right.DECIDE):
            return refusal
        now = self.clock.now()
        latest = after(now, limits.APPROVAL_LIFETIME_MS)
        expire_time = latest if request.expire_time is None else request.expire_time
        # A retry of what was decided in time is answered with it, however late it comes: so this rides along.
        late = None if now < expire_time <= latest else malformed("expire_time", _WHEN)
        proposal = await self.proposals.get(caller.tenant, request.proposal_id, request.revision)
        if proposal is None:
            return late or Refusal(Reason.NOT_FOUND)
        if proposal.revision.proposer == caller.ref:
            return late or Refusal(Reason.NOT_ALLOWED, {"problem": "the proposer cannot decide"})
        if proposal.digest != request.proposal_digest:
            return late or binding_mismatch("proposal_digest")
        approval = Approval(
            reference=self.identifiers.new(),
            tenant=caller.tenant,
            proposal_id=request.proposal_id,
            proposal_revision=proposal.revision.revision,
            proposal_digest=proposal.digest,
            validation_receipt_digest=b"",
            verdict=request.verdict,
            decided_by=caller.ref,
            note=request.note,
            decide_time=now,
            expire_time=expire_time,
        )
        return await self.approvals.decide(request.mark, approval, _STATE_AFTER[request.verdict], late)
