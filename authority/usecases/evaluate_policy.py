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
    unless_withdrawn,
)
from authority.domain.external_decision import Hearing, joined
from authority.domain.identity import Caller, Principal, Right, require
from authority.domain.proposal import ProposalState
from authority.domain.proposal_states import COMMITTABLE, proposal_state_at, refusal_of
from authority.domain.quorum import Electorate, interested, unless_taken_back
from authority.domain.reasons import Reason
from authority.domain.references import PrincipalRef, after
from authority.domain.refusal import Refusal, malformed
from authority.domain.statement import Statement
from authority.domain.validation import SignedValidation
from authority.domain.verify import Here
from authority.usecases.admit import Admit
from authority.usecases.ports import (
    Clock,
    Decisions,
    Identifiers,
    PolicyEngine,
    RequestMark,
    Signer,
    Statements,
    Validators,
)
from authority.usecases.validate_proposal import not_installed


@dataclass(frozen=True, slots=True)
class PolicyRequest:
    """Ids, never facts."""

    mark: RequestMark
    proposal_id: str
    proposal_revision: int
    holder: PrincipalRef
    external_decisions: tuple[Statement, ...] = ()
    """Decision receipts that external authorities signed."""


@dataclass(frozen=True, slots=True)
class EvaluatePolicy:
    """Answers with a signed decision receipt, whatever the outcome. After an approval it must be asked again."""

    admit: Admit
    statements: Statements
    signer: Signer
    decisions: Decisions
    policy: PolicyEngine
    validators: Validators
    clock: Clock
    identifiers: Identifiers
    here: Here

    async def __call__(self, caller: Caller, request: PolicyRequest) -> SignedDecision | Refusal:
        """Refusals: MALFORMED, NOT_ALLOWED, NOT_FOUND, EXPIRED, NOT_VALIDATED, IDEMPOTENCY_CONFLICT.

        And those of external decisions that do not count, or are required and missing (POLICY_DENIED).
        """
        presented = self._read(request.external_decisions)
        if isinstance(presented, Refusal):
            return presented
        if refusal := await self.admit(caller) or require(caller, Right.ISSUE):
            return refusal
        return await self.decisions.decide(
            request.mark,
            request.proposal_id,
            request.proposal_revision,
            request.holder,
            lambda facts, sequence: self._decide(facts, sequence, presented),
        )

    def _read(self, statements: tuple[Statement, ...]) -> tuple[SignedDecision, ...] | Refusal:
        """By the reading rule; whose they are, and whether they count, is judged beside the facts."""
        read: list[SignedDecision] = []
        for number, statement in enumerate(statements):
            decision = self.statements.open_decision(statement)
            if isinstance(decision, Refusal):
                return malformed(f"external_decisions[{number}]", "is no decision receipt")
            if any(decision.receipt.issuer == other.receipt.issuer for other in read):
                return malformed(f"external_decisions[{number}]", "is a second one of its issuer")
            read.append(decision)
        return tuple(read)

    def _decide(
        self, facts: DecisionFacts, sequence: int, presented: tuple[SignedDecision, ...]
    ) -> SignedDecision | Refusal:
        if facts.holder is None:
            return Refusal(Reason.NOT_FOUND, {"field": "holder"})
        validation, state = facts.validation, proposal_state_at(facts.proposal, self.clock.now())
        if state is ProposalState.EXPIRED:
            return refusal_of(state)
        if validation is None or not facts.is_newest_revision or state not in COMMITTABLE:
            return Refusal(Reason.NOT_VALIDATED)
        if refusal := self._judge_validators(facts.namespace.least_profile, validation):
            return refusal
        hearing = Hearing(facts, validation, facts.holder, self.statements.is_signed_by, self.clock.now())
        heard = hearing.hear(presented)
        if isinstance(heard, Refusal):
            return heard
        answer, approvals = self._ask(facts, facts.holder, validation, heard)
        receipt = self._receipt(facts, validation, facts.holder, answer, approvals, sequence)
        # What it rests on expires no later than it does.
        expire_time = min([receipt.expire_time, *(it.receipt.expire_time for it in heard)])
        signed = self.signer.sign_decision(replace(receipt, expire_time=expire_time))
        return replace(signed, external_key_ids=tuple(it.statement.key_id for it in heard))

    def _judge_validators(self, least: str, validation: SignedValidation) -> Refusal | None:
        """The memory namespace may have come to ask for more since the revision was validated (semantics §4)."""
        profile = self.validators.profile(least)
        if profile is None:
            return not_installed(least)
        asked = {finding.validator for finding in validation.receipt.findings}
        if all(validator.name in asked for validator in profile.validators):
            return None
        return Refusal(Reason.NOT_VALIDATED, {"problem": f"its validation lacks validators of {least}"})

    def _ask(
        self,
        facts: DecisionFacts,
        holder: Principal,
        validation: SignedValidation,
        heard: tuple[SignedDecision, ...],
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
            subject=facts.proposal.revision.subject,
            cited=facts.cited,
            validator_profile=validation.receipt.validator_profile,
            validator_profile_version=validation.receipt.validator_profile_version,
            findings=validation.receipt.findings,
        )
        answer = unless_withdrawn(self.policy.evaluate(facts.bundle, question), facts.cited)
        answer = unless_taken_back(answer, facts.approvals)
        answer = joined(answer, heard)
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
        approved = joined(self.policy.evaluate(facts.bundle, question.once_approved()), heard, approved=True)
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
