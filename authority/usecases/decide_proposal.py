"""Records a person's decision on one exact proposal revision (semantics §7)."""

from dataclasses import dataclass

from authority.domain import limits
from authority.domain.decision import Approval, ApprovalVerdict, decider_kind
from authority.domain.identity import Caller, Right, require
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.quorum import interested
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, after
from authority.domain.refusal import Refusal, binding_mismatch, malformed
from authority.usecases.admit import Admit
from authority.usecases.ports import (
    Activations,
    Approvals,
    Clock,
    Identifiers,
    Persons,
    Proposals,
    RecordedApproval,
    RequestMark,
)

_WHEN = "must lie in the future, at most 30 days away"
_OWN_MATTER = "nobody decides on what they, or whoever is one person with them, had a part in"
_STATE_AFTER = {
    ApprovalVerdict.APPROVE: ProposalState.APPROVED,
    ApprovalVerdict.REJECT: ProposalState.REJECTED,
    ApprovalVerdict.REQUEST_CHANGES: ProposalState.CHANGES_REQUESTED,
    ApprovalVerdict.REVOKE: ProposalState.VALIDATED,
}


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What was looked at and what was decided.

    Without `expire_time` an approval counts for 30 days, without `holder` for whoever would commit, without `max_uses`
    for as many decisions as are asked for until the proposal is committed, which is once. The event of a record that
    goes with it carries the trace on.
    """

    mark: RequestMark
    proposal_id: str
    revision: int
    proposal_digest: bytes
    verdict: ApprovalVerdict
    note: str
    expire_time: Instant | None
    holder: PrincipalRef | None = None
    max_uses: int | None = None
    traceparent: str = ""


@dataclass(frozen=True, slots=True)
class DecideProposal:
    """Keeps an append-only decision; nobody decides on their own proposal."""

    admit: Admit
    proposals: Proposals
    approvals: Approvals
    activations: Activations
    persons: Persons
    clock: Clock
    identifiers: Identifiers

    async def __call__(self, caller: Caller, request: ApprovalRequest) -> RecordedApproval | Refusal:
        """The decision's reference and the state that it left the revision in.

        Refusals: NOT_ALLOWED, BINDING_MISMATCH `proposal_digest`, NOT_FOUND, NOT_VALIDATED, ALREADY_COMMITTED, REVOKED,
        IDEMPOTENCY_CONFLICT, MALFORMED for an expiry that is over or beyond the limit, unless it is a retry.
        """
        return await self.admit(caller) or require(caller, Right.DECIDE) or await self.decide(caller, request)

    async def decide(self, caller: Caller, request: ApprovalRequest) -> RecordedApproval | Refusal:
        """As above, of a caller who may decide at all."""
        now = self.clock.now()
        latest = after(now, limits.APPROVAL_LIFETIME_MS)
        expire_time = latest if request.expire_time is None else request.expire_time
        # A retry of what was decided in time is answered with it, however late it comes: so this rides along.
        late = None if now < expire_time <= latest else malformed("expire_time", _WHEN)
        proposal = await self.proposals.get(caller.tenant, request.proposal_id, request.revision)
        if proposal is None:
            return late or Refusal(Reason.NOT_FOUND)
        # Whoever is linked with somebody of the proposal after this look counts no more when it is committed.
        person = await self.persons.same_person(caller.tenant, caller.ref)
        if not person.isdisjoint(interested(proposal.revision)):
            return late or Refusal(Reason.NOT_ALLOWED, {"problem": _OWN_MATTER})
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
            decided_by_kind=decider_kind(caller.principal.kind),
            note=request.note,
            decide_time=now,
            expire_time=expire_time,
            holder=request.holder,
            max_uses=request.max_uses,
        )
        return await self._keep(request, proposal, approval, late)

    async def _keep(
        self, request: ApprovalRequest, proposal: StoredProposal, approval: Approval, late: Refusal | None
    ) -> RecordedApproval | Refusal:
        mark, verdict = request.mark, request.verdict
        if verdict is ApprovalVerdict.ADOPT:
            return await self.activations.adopt(mark, approval, late)
        if verdict is ApprovalVerdict.REVOKE and proposal.state is ProposalState.COMMITTED:
            return await self.activations.take_back(mark, approval, request.traceparent, late)
        answer = await self.approvals.decide(mark, approval, _STATE_AFTER[verdict], late)
        overtaken = isinstance(answer, Refusal) and answer.reason is Reason.ALREADY_COMMITTED
        if verdict is ApprovalVerdict.REVOKE and overtaken:
            # It was committed since we looked.
            return await self.activations.take_back(mark, approval, request.traceparent, late)
        return answer
