"""Has policy decide on one holder committing one validated revision (semantics §7)."""

from dataclasses import dataclass, replace

from authority.domain import limits
from authority.domain.decision import (
    COMMIT_ACTION,
    Approval,
    DecisionFacts,
    DecisionOutcome,
    DecisionReceipt,
    PolicyAnswer,
    PolicyQuestion,
    SignedDecision,
)
from authority.domain.identity import Caller, Principal, Right, require
from authority.domain.proposal import ProposalState
from authority.domain.proposal_states import COMMITTABLE, proposal_state_at, refusal_of
from authority.domain.quorum import Electorate, interested, unless_taken_back
from authority.domain.reasons import Reason
from authority.domain.references import PrincipalRef, after
from authority.domain.refusal import Refusal
from authority.domain.validation import SignedValidation
from authority.domain.verify import Here
from authority.usecases.admit import Admit
from authority.usecases.ports import Clock, Decisions, Identifiers, PolicyEngine, RequestMark, Signer


@dataclass(frozen=True, slots=True)
class PolicyRequest:
    """Ids, never facts."""

    mark: RequestMark
    proposal_id: str
    proposal_revision: int
    holder: PrincipalRef


@dataclass(frozen=True, slots=True)
class EvaluatePolicy:
    """Answers with a signed decision receipt, whatever the outcome. After an approval it must be asked again."""

    admit: Admit
    signer: Signer
    decisions: Decisions
    policy: PolicyEngine
    clock: Clock
    identifiers: Identifiers
    here: Here

    async def __call__(self, caller: Caller, request: PolicyRequest) -> SignedDecision | Refusal:
        """Refusals: NOT_ALLOWED, NOT_FOUND, EXPIRED, NOT_VALIDATED, IDEMPOTENCY_CONFLICT."""
        if refusal := await self.admit(caller) or require(caller, Right.ISSUE):
            return refusal
        return await self.decisions.decide(
            request.mark, request.proposal_id, request.proposal_revision, request.holder, self._decide
        )

    def _decide(self, facts: DecisionFacts, sequence: int) -> SignedDecision | Refusal:
        if facts.holder is None:
            return Refusal(Reason.NOT_FOUND, {"field": "holder"})
        validation, state = facts.validation, proposal_state_at(facts.proposal, self.clock.now())
        if state is ProposalState.EXPIRED:
            return refusal_of(state)
        if validation is None or not facts.is_newest_revision or state not in COMMITTABLE:
            return Refusal(Reason.NOT_VALIDATED)
        answer, approvals = self._ask(facts, facts.holder, validation)
        return self.signer.sign_decision(self._receipt(facts, validation, facts.holder, answer, approvals, sequence))

    def _ask(
        self, facts: DecisionFacts, holder: Principal, validation: SignedValidation
    ) -> tuple[PolicyAnswer, tuple[Approval, ...]]:
        """No more approvals are bound than were asked for: the revocation of another then changes nothing."""
        question = PolicyQuestion(
            holder=holder,
            memory_namespace=facts.namespace.name,
            privileged=facts.namespace.privileged,
            revision=facts.proposal.revision,
            validation=validation.receipt.outcome,
            approved=False,
            mode=facts.namespace.mode,
            validator_profile_version=validation.receipt.validator_profile_version,
            findings=validation.receipt.findings,
        )
        answer = unless_taken_back(self.policy.evaluate(facts.bundle, question), facts.approvals)
        if answer.outcome is not DecisionOutcome.REQUIRE_APPROVAL:
            return answer, ()
        electorate = Electorate(
            deciders=facts.deciders,
            interested=interested(facts.proposal.revision),
            validation_digest=validation.digest,
            holder=holder.ref,
            now=self.clock.now(),
        )
        standing = electorate.standing(facts.approvals)[: answer.persons_needed]
        if len(standing) < answer.persons_needed:
            return answer, ()
        approved = self.policy.evaluate(facts.bundle, question.once_approved())
        return replace(approved, persons_needed=answer.persons_needed), standing

    def _receipt(
        self,
        facts: DecisionFacts,
        validation: SignedValidation,
        holder: Principal,
        answer: PolicyAnswer,
        approvals: tuple[Approval, ...],
        sequence: int,
    ) -> DecisionReceipt:
        revision, now = facts.proposal.revision, self.clock.now()
        return DecisionReceipt(
            decision_id=self.identifiers.new(),
            issuer=self.here.issuer,
            tenant=revision.tenant,
            memory_namespace=revision.memory_namespace,
            holder=holder.ref,
            action=COMMIT_ACTION,
            proposal_id=revision.proposal_id,
            proposal_revision=revision.revision,
            proposal_digest=facts.proposal.digest,
            validation_receipt_digest=validation.digest,
            approval_references=tuple(approval.reference for approval in approvals),
            policy_version=facts.namespace.policy_version,
            outcome=answer.outcome,
            determining_policies=answer.determining_policies,
            sequence=sequence,
            decide_time=now,
            expire_time=after(now, limits.DECISION_LIFETIME_MS),
            correlation_id=revision.correlation_id,
            persons_needed=answer.persons_needed,
        )
