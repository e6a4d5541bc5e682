"""The port `Capabilities`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from authority.domain.capability import OpenedCapability
from authority.domain.issuing import IssuingFacts, IssuingQuestion, judge_offer
from authority.domain.plan import Claim
from authority.domain.reasons import Reason
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal
from authority.inprocess.grants import judge_spend, keep_spend
from authority.inprocess.tables import KeptCapability, Tables
from authority.usecases.ports import CapabilityFate, Clock, IssuedCapability, Offer, RequestMark


@dataclass(frozen=True, slots=True)
class InProcessCapabilities:
    """Implements `ports.Capabilities`."""

    tables: Tables
    clock: Clock

    async def issuing_facts(
        self,
        questions: Sequence[IssuingQuestion],
        deadline: float,  # noqa: ARG002 - nothing waits here
    ) -> list[IssuingFacts | Refusal | Exception]:
        """The facts of each; NOT_FOUND when there is no such revision."""
        return [self._facts(question) for question in questions]

    async def issue(
        self,
        offers: Sequence[Offer],
        deadline: float,  # noqa: ARG002 - nothing waits here
    ) -> list[IssuedCapability | Refusal | Exception]:
        """One after the other."""
        return [self._issue(offer) for offer in offers]

    async def fate_of(self, tenant: TenantRef, capability_id: str) -> CapabilityFate | None:
        """What became of the capability."""
        kept = self.tables.capabilities.get((tenant, capability_id))
        if kept is None:
            return None
        receipt_id = self.tables.receipt_of_capability(tenant, capability_id)
        return CapabilityFate(kept.claim.holder, receipt_id, kept.state == "revoked")

    def _facts(self, question: IssuingQuestion) -> IssuingFacts | Refusal:
        tables, tenant = self.tables, question.tenant
        proposal = tables.proposal(tenant, question.proposal_id, question.proposal_revision)
        if proposal is None:
            return Refusal(Reason.NOT_FOUND, {"field": "proposal_id"})
        holder = tables.active_principal(tenant, question.holder)
        return IssuingFacts(
            proposal=proposal,
            is_newest_revision=tables.is_current(proposal),
            has_validation=(tenant, question.validation_digest) in tables.validations,
            has_decision=(tenant, question.decision_digest) in tables.decisions,
            policy_version=tables.namespaces[tenant, proposal.revision.memory_namespace].policy_version,
            holder=holder,
            holder_key_active=bool(holder and tables.active_key(tenant, question.holder, question.holder_key_id)),
        )

    def _issue(self, offer: Offer) -> IssuedCapability | Refusal:
        """Answers with what the commit key already stands for, or else keeps what is offered."""
        claim = offer.claim
        standing = self._standing(offer.mark, claim, self.clock.now())
        if isinstance(standing, Refusal):
            return standing
        issued = IssuedCapability(standing, replayed=True) if standing else self._keep(offer)
        if not isinstance(issued, Refusal):
            self.tables.answer(offer.mark, claim)
        return issued

    def _standing(self, mark: RequestMark, claim: Claim, now: Instant) -> OpenedCapability | Refusal | None:
        """The live capability of the claim, or why its key or its request id stands for something else."""
        answered = self.tables.answered(mark, Claim)
        if isinstance(answered, Refusal):
            return answered
        settled = self.tables.settled(claim.tenant, claim.holder, claim.idempotency_key)
        issued = [kept for kept in self.tables.capabilities.values() if _is_of_key(kept.claim, claim)]
        used_for = {kept.claim.fingerprint for kept in issued} | ({settled.fingerprint} if settled else set())
        if used_for - {claim.fingerprint}:
            return Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "commit_idempotency_key"})
        if settled:
            return Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": settled.receipt_id})
        live = (kept.opened for kept in issued if kept.state == "issued" and now < kept.opened.terms.expire_time)
        return next(live, None)

    def _keep(self, offer: Offer) -> IssuedCapability | Refusal:
        tables, claim = self.tables, offer.claim
        asked_before = tables.answered(offer.mark, Claim) is not None
        of_key = (kept for kept in tables.capabilities.values() if _is_of_key(kept.claim, claim))
        was_revoked = any(kept.state == "revoked" for kept in of_key)
        offered = judge_offer(offer.offered, asked_before=asked_before, was_revoked=was_revoked)
        if isinstance(offered, Refusal):
            return offered
        committed = tables.heads[claim.tenant, offered.terms.proposal_id].receipt_id
        if committed:
            return Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": committed})
        if offer.spend and (
            refusal := judge_spend(tables, offer.mark.tenant, offer.spend, self.clock.now(), concurrency=1)
        ):
            return refusal
        self._replace_expired(claim)
        self.tables.capabilities[claim.tenant, offered.terms.capability_id] = KeptCapability(offered, claim, "issued")
        if offer.spend:
            keep_spend(tables, offer.mark.tenant, offer.spend, offered.terms.capability_id)
        self.tables.tell(
            offer.mark.event(
                "capability.issue",
                offered.terms.capability_id,
                ("", "issued"),
                self.clock.now(),
                correlation_id=offered.terms.correlation_id,
            )
        )
        return IssuedCapability(offered, replayed=False)

    def _replace_expired(self, claim: Claim) -> None:
        for key, kept in self.tables.capabilities.items():
            if _is_of_key(kept.claim, claim) and kept.state == "issued":
                self.tables.capabilities[key] = replace(kept, state="expired")


def _is_of_key(one: Claim, other: Claim) -> bool:
    return replace(one, fingerprint=other.fingerprint) == other
