"""Issues a commit capability on a validated, allowed proposal revision (semantics §4)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from authority.domain.capability import CommitCapability, Presentation
from authority.domain.decision import COMMIT_ACTION, SignedDecision
from authority.domain.grant_use import GrantUse
from authority.domain.granting import judge_issuing_for
from authority.domain.identity import Caller
from authority.domain.issuing import IssuingFacts, IssuingQuestion, judge_caller, judge_holder, judge_receipts
from authority.domain.plan import Claim
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, after
from authority.domain.refusal import Refusal, binding_mismatch, highest
from authority.domain.statement import KeyPurpose, Statement
from authority.domain.validation import SignedValidation
from authority.domain.verify import Here
from authority.usecases.admit import Admit
from authority.usecases.grants.act_under import ActUnderGrant, Delegation
from authority.usecases.grants.presented import PresentedGrant
from authority.usecases.ports import (
    Capabilities,
    Clock,
    DependencyUnavailable,
    Identifiers,
    IssuedCapability,
    Offer,
    RequestMark,
    Signer,
    Spend,
    Statements,
)

Known: TypeAlias = dict[PresentedGrant, Delegation | Refusal]
"""What grants that one call presents were judged: each is asked about once."""


@dataclass(frozen=True, slots=True)
class IssueRequest:
    """What to bind and to whom. `lifetime_ms` is within the limits of semantics §10.

    `deadline` is event loop time in seconds.
    """

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
    deadline: float
    grant: PresentedGrant | None = None
    """Under which it is asked, in place of a right of the caller's own."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request and the receipts that it presents, read and not judged yet; and the delegation that it is made by."""

    request: IssueRequest
    validation: SignedValidation
    decision: SignedDecision
    delegation: Delegation | None = None

    @property
    def question(self) -> IssuingQuestion:
        """What must be known to judge it."""
        request = self.request
        return IssuingQuestion(
            tenant=request.mark.tenant,
            proposal_id=request.proposal_id,
            proposal_revision=request.proposal_revision,
            validation_digest=self.validation.digest,
            decision_digest=self.decision.digest,
            holder=request.holder,
            holder_key_id=request.holder_key_id,
        )


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
    act: ActUnderGrant

    async def __call__(self, caller: Caller, request: IssueRequest) -> IssuedCapability | Refusal:
        """The capability, new or live already.

        Refusals below "settled" in the error table ride to the store, which first answers with what the commit key
        already stands for.
        """
        asked = self.read(request)
        if isinstance(asked, Refusal):
            return asked
        if refusal := await self.admit(caller):
            return refusal
        authorized = await self.authorize(caller, asked, {})
        if isinstance(authorized, Refusal):
            return authorized
        [outcome] = await self.carry_out([authorized], request.deadline)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def read(self, request: IssueRequest) -> Asked | Refusal:
        """The presented receipts by the reading rule; MALFORMED for either."""
        validation = self.statements.open_validation(request.validation_receipt)
        if isinstance(validation, Refusal):
            return validation
        decision = self.statements.open_decision(request.decision_receipt)
        return decision if isinstance(decision, Refusal) else Asked(request, validation, decision)

    async def authorize(self, caller: Caller, asked: Asked, known: Known) -> Asked | Refusal:
        """The request with the delegation that it is made by, or NOT_ALLOWED, or why its grant does not allow it.

        It is told before anything is looked up by what is asked: a grant stands in place of the caller's right.
        `known` are the grants that the same call presented before.
        """
        request, presented = asked.request, asked.request.grant
        if presented is None:
            return judge_caller(caller, request.holder) or asked
        if presented not in known:
            known[presented] = await self.act(caller, presented, request.mark)
        delegation = known[presented]
        if isinstance(delegation, Refusal):
            return delegation
        refusal = highest(
            (
                judge_issuing_for(delegation.subject, caller, request.holder),
                delegation.judge(self._use(request), self.clock.now()),
            )
        )
        return refusal or replace(asked, delegation=delegation)

    async def carry_out(self, asked: Sequence[Asked], deadline: float) -> list[IssuedCapability | Refusal | Exception]:
        """Two calls for all: for what is known, and for what stands or is kept. One outcome each, in order.

        A caller that goes away leaves what was sent to finish.
        """
        known = await self.capabilities.issuing_facts([one.question for one in asked], deadline)
        offers: list[Offer | Refusal | Exception] = []
        for one, facts in zip(asked, known, strict=True):
            offers.append(self._offer(one, facts) if isinstance(facts, IssuingFacts) else facts)
            # Each costs a signature: other calls go on between two of them.
            await asyncio.sleep(0)
        kept = [offer for offer in offers if isinstance(offer, Offer)]
        outcomes = iter(await self.capabilities.issue(kept, deadline) if kept else ())
        return [next(outcomes) if isinstance(offer, Offer) else offer for offer in offers]

    def _offer(self, asked: Asked, facts: IssuingFacts) -> Offer | Refusal | Exception:
        """What the store is asked for; the fault when no key of ours can sign it."""
        if refusal := judge_holder(facts):
            return refusal
        request, now, spend = (
            asked.request,
            self.clock.now(),
            asked.delegation.cost_of(facts.proposal.revision.costs) if asked.delegation else None,
        )
        # As whoever may not issue: told before what the commit key stands for.
        if refusal := self._judge_delegation(asked, facts, spend, now):
            return refusal
        terms = self._terms(asked, facts, now)
        refusal = highest(
            (self._judge_audience(request), self._judge(asked, facts, now), _judge_policy_of_grant(asked, facts))
        )
        try:
            return Offer(request.mark, self._claim(terms, facts), refusal or self.signer.sign_capability(terms), spend)
        except DependencyUnavailable as fault:
            return fault

    def _use(self, request: IssueRequest) -> GrantUse:
        return GrantUse(action=COMMIT_ACTION, audience=request.audience, concurrency=1)

    def _judge_delegation(self, asked: Asked, facts: IssuingFacts, spend: Spend | None, now: Instant) -> Refusal | None:
        """What the grant says of this proposal: its memory namespace, and what it has cost."""
        if asked.delegation is None or spend is None:
            return None
        use = replace(
            self._use(asked.request),
            write_memory_namespace=facts.proposal.revision.memory_namespace,
            tokens=spend.tokens,
            usd_micros=spend.usd_micros,
        )
        return asked.delegation.judge(use, now)

    def _judge_audience(self, request: IssueRequest) -> Refusal | None:
        return None if request.audience == self.here.audience else binding_mismatch("audience")

    def _judge(self, asked: Asked, facts: IssuingFacts, now: Instant) -> Refusal | None:
        revision, validation, decision = facts.proposal.revision, asked.validation, asked.decision
        signed = ((validation.statement, KeyPurpose.VALIDATION), (decision.statement, KeyPurpose.DECISION))
        signature_refusals = tuple(
            self.statements.judge_signature(statement, purpose, revision.tenant, revision.memory_namespace)
            for statement, purpose in signed
        )
        return judge_receipts(validation, decision, signature_refusals, asked.request.holder, facts, now)

    def _terms(self, asked: Asked, facts: IssuingFacts, now: Instant) -> CommitCapability:
        request, validation, decision = asked.request, asked.validation, asked.decision
        revision, expire_time = facts.proposal.revision, after(now, request.lifetime_ms)
        grant = asked.delegation and asked.delegation.grant
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
            # What outlives its grant could not be committed any more.
            expire_time=min(expire_time, grant.terms.expire_time) if grant else expire_time,
            max_uses=1,
            correlation_id=revision.correlation_id,
            grant_digest=grant.digest if grant else b"",
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


def _judge_policy_of_grant(asked: Asked, facts: IssuingFacts) -> Refusal | None:
    """POLICY_DENIED for a grant that was made under another policy than the memory namespace's active one."""
    changed = asked.delegation is not None and asked.delegation.grant.terms.policy_version != facts.policy_version
    return Refusal(Reason.POLICY_DENIED, {"field": "grant"}) if changed else None
