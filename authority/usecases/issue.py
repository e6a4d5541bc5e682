"""Issues a commit capability on a validated, allowed proposal revision (semantics §4)."""

from dataclasses import dataclass

from authority.domain.capability import CommitCapability, Presentation
from authority.domain.decision import COMMIT_ACTION, SignedDecision
from authority.domain.identity import Caller
from authority.domain.issuing import IssuingFacts, judge_caller, judge_holder, judge_receipts
from authority.domain.plan import Claim
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, after
from authority.domain.refusal import Refusal, binding_mismatch, highest
from authority.domain.statement import KeyPurpose, Statement
from authority.domain.validation import SignedValidation
from authority.domain.verify import Here
from authority.usecases.admit import Admit
from authority.usecases.ports import (
    Capabilities,
    Clock,
    Identifiers,
    IssuedCapability,
    RequestMark,
    Signer,
    Statements,
)


@dataclass(frozen=True, slots=True)
class IssueRequest:
    """What to bind and to whom. `lifetime_ms` is within the limits of semantics §10."""

    mark: RequestMark
    proposal_id: str
    proposal_revision: int
    holder: PrincipalRef
    holder_key_id: str
    audience: str
    commit_idempotency_key: str
    validation_receipt: Statement
    decision_receipt: Statement
    lifetime_ms: int


@dataclass(frozen=True, slots=True)
class Issue:
    """Answers with a capability under which exactly this content can be committed once, by exactly this holder."""

    admit: Admit
    statements: Statements
    signer: Signer
    capabilities: Capabilities
    clock: Clock
    identifiers: Identifiers
    here: Here

    async def __call__(self, caller: Caller, request: IssueRequest) -> IssuedCapability | Refusal:
        """The capability, new or live already.

        Refusals below "settled" in the error table ride to the store, which first answers with what the commit key
        already stands for.
        """
        validation = self.statements.open_validation(request.validation_receipt)
        if isinstance(validation, Refusal):
            return validation
        decision = self.statements.open_decision(request.decision_receipt)
        if isinstance(decision, Refusal):
            return decision
        if refusal := await self.admit(caller) or judge_caller(caller, request.holder):
            return refusal

        facts = await self.capabilities.issuing_facts(
            caller.tenant,
            request.proposal_id,
            request.proposal_revision,
            validation.digest,
            decision.digest,
            request.holder,
            request.holder_key_id,
        )
        if facts is None:
            return Refusal(Reason.NOT_FOUND, {"field": "proposal_id"})
        if refusal := judge_holder(facts):
            return refusal

        now = self.clock.now()
        terms = self._terms(request, validation, decision, facts, now)
        claim = self._claim(terms, facts)
        refusal = highest((self._judge_audience(request), self._judge(validation, decision, request, facts, now)))
        offer = refusal or self.signer.sign_capability(terms)
        return await self.capabilities.issue(request.mark, claim, offer, now)

    def _judge_audience(self, request: IssueRequest) -> Refusal | None:
        return None if request.audience == self.here.audience else binding_mismatch("audience")

    def _judge(
        self,
        validation: SignedValidation,
        decision: SignedDecision,
        request: IssueRequest,
        facts: IssuingFacts,
        now: Instant,
    ) -> Refusal | None:
        revision = facts.proposal.revision
        signed = ((validation.statement, KeyPurpose.VALIDATION), (decision.statement, KeyPurpose.DECISION))
        signature_refusals = tuple(
            self.statements.judge_signature(statement, purpose, revision.tenant, revision.memory_namespace)
            for statement, purpose in signed
        )
        return judge_receipts(validation, decision, signature_refusals, request.holder, facts, now)

    def _terms(
        self,
        request: IssueRequest,
        validation: SignedValidation,
        decision: SignedDecision,
        facts: IssuingFacts,
        now: Instant,
    ) -> CommitCapability:
        revision = facts.proposal.revision
        return CommitCapability(
            capability_id=self.identifiers.new(),
            issuer=self.here.issuer,
            audience=request.audience,
            tenant=revision.tenant,
            memory_namespace=revision.memory_namespace,
            subject=revision.proposer,
            holder=request.holder,
            holder_key=bytes.fromhex(request.holder_key_id.removeprefix("sha256:")),
            action=COMMIT_ACTION,
            proposal_id=revision.proposal_id,
            proposal_revision=revision.revision,
            proposal_digest=facts.proposal.digest,
            content_digest=revision.content_digest,
            media_type=revision.media_type,
            evidence_digests=revision.evidence_digests,
            validator_profile=validation.receipt.validator_profile,
            validator_profile_version=validation.receipt.validator_profile_version,
            validation_receipt_digest=validation.digest,
            policy_version=decision.receipt.policy_version,
            decision_receipt_digest=decision.digest,
            approval_reference=next(iter(decision.receipt.approval_references), ""),
            commit_idempotency_key=request.commit_idempotency_key,
            not_before_time=now,
            expire_time=after(now, request.lifetime_ms),
            max_uses=1,
            correlation_id=revision.correlation_id,
            grant_digest=b"",
        )

    def _claim(self, terms: CommitCapability, facts: IssuingFacts) -> Claim:
        presentation = Presentation(
            content=facts.proposal.content,
            content_digest=terms.content_digest,
            media_type=terms.media_type,
            evidence_digests=terms.evidence_digests,
            commit_idempotency_key=terms.commit_idempotency_key,
        )
        fingerprint = self.statements.fingerprint(terms, presentation)
        return Claim(terms.tenant, terms.holder, terms.commit_idempotency_key, fingerprint)
