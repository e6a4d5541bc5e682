"""The port `Capabilities`."""

from dataclasses import dataclass, replace

from authority.domain.capability import OpenedCapability
from authority.domain.issuing import IssuingFacts, judge_offer
from authority.domain.plan import Claim
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.inprocess.tables import KeptCapability, Tables
from authority.usecases.ports import CapabilityFate, IssuedCapability, RequestMark


@dataclass(frozen=True, slots=True)
class InProcessCapabilities:
    """Implements `ports.Capabilities`."""

    tables: Tables

    async def issuing_facts(
        self,
        tenant: TenantRef,
        proposal_id: str,
        revision: int,
        validation_digest: bytes,
        decision_digest: bytes,
        holder: PrincipalRef,
        holder_key_id: str,
    ) -> IssuingFacts | None:
        """The facts; None when there is no such revision."""
        proposal = self.tables.proposal(tenant, proposal_id, revision)
        if proposal is None:
            return None
        principal = self.tables.active_principal(tenant, holder)
        return IssuingFacts(
            proposal=proposal,
            is_newest_revision=self.tables.is_current(proposal),
            validation=self.tables.validations.get((tenant, validation_digest)),
            decision=self.tables.decisions.get((tenant, decision_digest)),
            namespace=self.tables.namespaces[tenant, proposal.revision.memory_namespace],
            holder=principal,
            holder_key_active=bool(principal and self.tables.active_key(tenant, holder, holder_key_id)),
        )

    async def issue(
        self, mark: RequestMark, claim: Claim, offer: OpenedCapability | Refusal, now: Instant
    ) -> IssuedCapability | Refusal:
        """Answers with what the commit key already stands for, or else keeps the offer."""
        standing = self._standing(mark, claim, now)
        if isinstance(standing, Refusal):
            return standing
        issued = IssuedCapability(standing, replayed=True) if standing else self._keep(mark, claim, offer)
        if not isinstance(issued, Refusal):
            self.tables.answer(mark, claim)
        return issued

    async def fate_of(self, tenant: TenantRef, capability_id: str) -> CapabilityFate | None:
        """What became of the capability."""
        kept = self.tables.capabilities.get((tenant, capability_id))
        if kept is None:
            return None
        receipt_id = self.tables.receipt_of_capability(tenant, capability_id)
        return CapabilityFate(kept.claim.holder, receipt_id, kept.state == "revoked")

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

    def _keep(self, mark: RequestMark, claim: Claim, offer: OpenedCapability | Refusal) -> IssuedCapability | Refusal:
        asked_before = self.tables.answered(mark, Claim) is not None
        of_key = (kept for kept in self.tables.capabilities.values() if _is_of_key(kept.claim, claim))
        was_revoked = any(kept.state == "revoked" for kept in of_key)
        offer = judge_offer(offer, asked_before=asked_before, was_revoked=was_revoked)
        if isinstance(offer, Refusal):
            return offer
        committed = self.tables.heads[claim.tenant, offer.terms.proposal_id].receipt_id
        if committed:
            return Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": committed})
        self._replace_expired(claim)
        self.tables.capabilities[claim.tenant, offer.terms.capability_id] = KeptCapability(offer, claim, "issued")
        return IssuedCapability(offer, replayed=False)

    def _replace_expired(self, claim: Claim) -> None:
        for key, kept in self.tables.capabilities.items():
            if _is_of_key(kept.claim, claim) and kept.state == "issued":
                self.tables.capabilities[key] = replace(kept, state="expired")


def _is_of_key(one: Claim, other: Claim) -> bool:
    return replace(one, fingerprint=other.fingerprint) == other
