"""Commits validated memory: the story of one call, top to bottom (semantics §5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.action_envelope import ActionProof
from authority.domain.capability import OpenedCapability, Presentation, differing_terms
from authority.domain.freshness import Freshness
from authority.domain.identity import Caller, Right, require
from authority.domain.plan import (
    Claim,
    CommitOutcome,
    CommitPlan,
    CommitReceipt,
    Committed,
    Conflicting,
    StoredReceipt,
)
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal, malformed
from authority.domain.statement import KeyPurpose, Statement
from authority.domain.verify import Granted, Here, verify
from authority.usecases.admit import Admit
from authority.usecases.ports import Clock, Committer, Identifiers, Leases, RevisionTokens, Signer, Statements


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """A holder's capability and what it presents with it.

    `deadline` is event loop time in seconds; `traceparent` the caller's W3C trace context, '' when it has none.
    """

    capability: Statement
    presentation: Presentation
    deadline: float
    traceparent: str = ""
    action_proof: ActionProof | None = None
    """The envelope of upstream that proved the caller, when one did."""


@dataclass(frozen=True, slots=True)
class CommitAnswer:
    """The receipt, byte for byte that of the first success, and what vouches for it if its key was revoked since."""

    receipt: StoredReceipt
    replayed: bool
    attestation: Statement | None
    revision_token: str
    """With it a recall asks for memory at least as fresh as this commit."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A commit that only the database can answer, and what it was made from."""

    plan: CommitPlan
    presentation: Presentation


@dataclass(frozen=True, slots=True)
class Commit:
    """Consumes a capability and writes its memory once; a retry is answered with the first result."""

    admit: Admit
    statements: Statements
    signer: Signer
    leases: Leases
    committer: Committer
    clock: Clock
    identifiers: Identifiers
    here: Here
    revisions: RevisionTokens

    async def __call__(self, caller: Caller, request: CommitRequest) -> CommitAnswer | Refusal:
        """The receipt of this claim, or why not.

        Every refusal above "settled" in the error table is answered before the claim is looked at; every other rides
        in the plan, so that no retry is refused while its first attempt is about to succeed.
        """
        capability = await self.read(request)
        if isinstance(capability, Refusal):
            return capability
        if refusal := await self.admit(caller):
            return refusal
        ready = await self.prepare(caller, capability, request)
        if not isinstance(ready, Prepared):
            return ready
        [outcome] = await self.carry_out([ready], request.deadline)
        if isinstance(outcome, Exception):
            raise outcome
        return self.conclude(ready, outcome)

    async def read(self, request: CommitRequest) -> OpenedCapability | Refusal:
        """The capability by the reading rule, once the content's form was judged; MALFORMED for either."""
        presentation = request.presentation
        problem = await self.statements.content_problem(presentation.content, presentation.media_type)
        if problem:
            return malformed("presentation.content", problem)
        return self.statements.open_capability(request.capability)

    async def prepare(
        self, caller: Caller, capability: OpenedCapability, request: CommitRequest
    ) -> Prepared | CommitAnswer | Refusal:
        """A plan for the database, unless the answer is known without it."""
        refusal = _judge_holder(caller, capability) or require(caller, Right.COMMIT)
        if refusal:
            return refusal
        presentation = request.presentation
        claim = self._claim(capability, presentation)
        settled = await self._glance(claim)
        if settled:
            return settled
        verdict = self._verify(caller, capability, presentation)
        refusal = verdict if isinstance(verdict, Refusal) else None
        return Prepared(self._plan(capability, claim, refusal, request), presentation)

    async def carry_out(self, ready: Sequence[Prepared], deadline: float) -> list[CommitOutcome | Exception]:
        """Commits under leases, all in one call. Outcomes come in order; of those that contend the first wins.

        A caller that goes away here leaves the leases to expire and the commits to finish.
        """
        plans = [one.plan for one in ready]
        for plan in plans:
            if plan.receipt:
                self.leases.take(plan.claim, plan.receipt_id)
        outcomes = await self.committer.commit_together(plans, deadline)
        for plan, outcome in zip(plans, outcomes, strict=True):
            receipt = outcome.receipt if isinstance(outcome, Committed) else None
            if plan.receipt or receipt:
                self.leases.settle(plan.claim, plan.receipt_id, receipt)
        # Whoever hears of this answer may ask another process next.
        await self.leases.heard()
        return outcomes

    def conclude(self, ready: Prepared, outcome: CommitOutcome) -> CommitAnswer | Refusal:
        """What the caller is told."""
        if isinstance(outcome, Committed):
            return self._answer(ready.plan.claim, outcome.receipt, replayed=outcome.replayed)
        if isinstance(outcome, Conflicting):
            return self._conflict(outcome.receipt, ready.plan.capability, ready.presentation)
        return outcome

    async def _glance(self, claim: Claim) -> CommitAnswer | Refusal | None:
        """What the lease store surely saw: a settled receipt that proves itself, or the key running for another."""
        sighting = await self.leases.sight(claim)
        if sighting.settled and self._is_trustworthy(sighting.settled, claim):
            return self._answer(claim, sighting.settled, replayed=True)
        # A lease may outlive its commit, when its process died: what was settled says more than that a key runs.
        if sighting.settled is None and sighting.running_fingerprint not in {None, claim.fingerprint}:
            return Refusal(Reason.IDEMPOTENCY_CONFLICT)
        return None

    def _claim(self, capability: OpenedCapability, presentation: Presentation) -> Claim:
        terms = capability.terms
        fingerprint = self.statements.fingerprint(terms, presentation)
        return Claim(terms.tenant, terms.holder, presentation.commit_idempotency_key, fingerprint)

    def _verify(self, caller: Caller, capability: OpenedCapability, presentation: Presentation) -> Refusal | Granted:
        terms = capability.terms
        signature_refusal = self.statements.judge_signature(
            capability.statement, KeyPurpose.CAPABILITY, terms.tenant, terms.memory_namespace
        )
        if not caller.has_bound_key:
            # A replay is answered before, in the database: any credential of the holder may have that.
            return Refusal(Reason.HOLDER_MISMATCH)
        return verify(
            capability, signature_refusal, presentation, _thumbprint(caller.key_id), self.here, self.clock.now()
        )

    def _plan(
        self, capability: OpenedCapability, claim: Claim, refusal: Refusal | None, request: CommitRequest
    ) -> CommitPlan:
        receipt_id, record_id, now = self.identifiers.new(), self.identifiers.new(), self.clock.now()
        receipt = CommitReceipt(
            receipt_id=receipt_id,
            issuer=self.here.issuer,
            record_id=record_id,
            capability=capability.terms,
            capability_digest=capability.digest,
            request_fingerprint=claim.fingerprint,
            commit_time=now,
        )
        return CommitPlan(
            claim=claim,
            capability=capability,
            refusal=refusal,
            receipt=None if refusal else self.signer.sign_receipt(receipt),
            receipt_id=receipt_id,
            record_id=record_id,
            event_id=self.identifiers.new(),
            planned_time=now,
            traceparent=request.traceparent,
            action_proof=request.action_proof,
        )

    def _is_trustworthy(self, cached: StoredReceipt, claim: Claim) -> bool:
        """Whether a cached receipt is surely ours and surely this claim's: the cache alone is believed in nothing."""
        receipt = self.statements.open_receipt(cached.statement)
        if isinstance(receipt, Refusal) or receipt.request_fingerprint != claim.fingerprint:
            return False
        terms = receipt.capability
        settled = (terms.tenant, terms.holder, terms.commit_idempotency_key)
        namespace = terms.memory_namespace
        return settled == (claim.tenant, claim.holder, claim.idempotency_key) and not self.statements.judge_signature(
            cached.statement, KeyPurpose.RECEIPT, claim.tenant, namespace
        )

    def _conflict(self, stored: StoredReceipt, capability: OpenedCapability, presentation: Presentation) -> Refusal:
        receipt = self.statements.open_receipt(stored.statement)
        if isinstance(receipt, Refusal):
            return receipt
        differs = differing_terms(receipt.capability, capability.terms, presentation)
        return Refusal(Reason.IDEMPOTENCY_CONFLICT, {"differs": differs})

    def _answer(self, claim: Claim, receipt: StoredReceipt, *, replayed: bool) -> CommitAnswer:
        attestation = self.signer.attestation(claim.tenant, receipt.statement, self.clock.now())
        revision_token = self.revisions.seal(claim.tenant, Freshness(receipt_id=receipt.receipt_id))
        return CommitAnswer(receipt, replayed, attestation, revision_token)


def _judge_holder(caller: Caller, capability: OpenedCapability) -> Refusal | None:
    held_by = (capability.terms.tenant, capability.terms.holder)
    return None if held_by == (caller.tenant, caller.ref) else Refusal(Reason.HOLDER_MISMATCH)


def _thumbprint(key_id: str) -> bytes:
    return bytes.fromhex(key_id.removeprefix("sha256:"))
