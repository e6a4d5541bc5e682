"""Has a proposal revision judged by its validator profile; validators never change memory (semantics §7)."""

from dataclasses import dataclass

from authority.domain import limits
from authority.domain.identity import Caller, Right
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.reasons import Reason
from authority.domain.references import after
from authority.domain.refusal import Refusal
from authority.domain.validation import (
    BASELINE,
    BASELINE_VERSION,
    SignedValidation,
    ValidationOutcome,
    ValidationReceipt,
    judge_baseline,
    worst,
)
from authority.domain.verify import Here
from authority.usecases.admit import Admit
from authority.usecases.ports import (
    Clock,
    Identifiers,
    Proposals,
    RecordedValidation,
    RequestMark,
    Signer,
    Statements,
    Validations,
)


@dataclass(frozen=True, slots=True)
class ValidationRequest:
    """Which revision to judge."""

    mark: RequestMark
    proposal_id: str
    revision: int


@dataclass(frozen=True, slots=True)
class ValidateProposal:
    """Answers with a signed validation receipt, whatever the outcome."""

    admit: Admit
    statements: Statements
    signer: Signer
    proposals: Proposals
    validations: Validations
    clock: Clock
    identifiers: Identifiers
    here: Here

    async def __call__(self, caller: Caller, request: ValidationRequest) -> RecordedValidation | Refusal:
        """The receipt and the state that it left the revision in.

        Refusals: NOT_FOUND (absent, or neither the caller's nor the caller may issue), IDEMPOTENCY_CONFLICT,
        NOT_VALIDATED for a superseded revision, ALREADY_COMMITTED.
        """
        if refusal := await self.admit(caller):
            return refusal
        proposal = await self.proposals.get(caller.tenant, request.proposal_id, request.revision)
        if proposal is None or not (proposal.revision.proposer == caller.ref or caller.principal.may(Right.ISSUE)):
            return Refusal(Reason.NOT_FOUND)
        signed = await self._judge(proposal)
        failed = signed.receipt.outcome is ValidationOutcome.FAIL
        state = ProposalState.REJECTED if failed else ProposalState.VALIDATED
        return await self.validations.keep(request.mark, signed, state)

    async def _judge(self, proposal: StoredProposal) -> SignedValidation:
        revision = proposal.revision
        duplicate_of = await self.validations.duplicate_of(
            revision.tenant,
            revision.memory_namespace,
            revision.content_digest,
            reader=revision.proposer,
            corrects=revision.supersedes_record_id,
        )
        problem = await self.statements.content_problem(proposal.content, revision.media_type)
        findings = judge_baseline(proposal, problem, duplicate_of)
        now = self.clock.now()
        return self.signer.sign_validation(
            ValidationReceipt(
                validation_id=self.identifiers.new(),
                issuer=self.here.issuer,
                tenant=revision.tenant,
                memory_namespace=revision.memory_namespace,
                proposal_id=revision.proposal_id,
                proposal_revision=revision.revision,
                proposal_digest=proposal.digest,
                validator_profile=BASELINE,
                validator_profile_version=BASELINE_VERSION,
                findings=findings,
                outcome=worst(findings),
                validate_time=now,
                expire_time=after(now, limits.VALIDATION_LIFETIME_MS),
            )
        )
