"""The port `Standings`, by the judgement of the in-process committer."""

from dataclasses import dataclass

from authority.domain.action_judgement import CapabilityStanding, DecisionStanding, judge_state
from authority.domain.reasons import Reason
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal, highest
from authority.inprocess.grants import grant_refusals
from authority.inprocess.judgement import decision_refusals, is_revoked
from authority.inprocess.tables import KeptCapability, Tables


@dataclass(frozen=True, slots=True)
class InProcessStandings:
    """Implements `ports.Standings`."""

    tables: Tables

    async def decision(self, tenant: TenantRef, digest: bytes, now: Instant) -> DecisionStanding | None:
        """The decision, and what stands against a commit by it."""
        decision = self.tables.decisions.get((tenant, digest))
        if decision is None:
            return None
        receipt = decision.receipt
        proposal = self.tables.revisions[tenant, receipt.proposal_id, receipt.proposal_revision]
        against = highest(decision_refusals(self.tables, decision, proposal, now))
        return DecisionStanding(decision, proposal.revision.content_digest, against)

    async def capability(self, tenant: TenantRef, capability_id: str, now: Instant) -> CapabilityStanding | None:
        """The capability, and what stands against it."""
        kept = self.tables.capabilities.get((tenant, capability_id))
        if kept is None:
            return None
        receipt_id = self.tables.heads[tenant, kept.opened.terms.proposal_id].receipt_id or ""
        committed = Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": receipt_id}) if receipt_id else None
        against = highest((*self._refusals(kept, now), committed))
        return CapabilityStanding(kept.opened, kept.claim.fingerprint, receipt_id, against)

    def _refusals(self, kept: KeptCapability, now: Instant) -> list[Refusal | None]:
        terms, tables = kept.opened.terms, self.tables
        key = tables.keys.get((terms.tenant, f"sha256:{terms.holder_key.hex()}"))
        found = [
            Refusal(Reason.KEY_REVOKED) if is_revoked(tables, kept.opened.statement.key_id) else None,
            Refusal(Reason.KEY_REVOKED) if key and not key.is_active else None,
            judge_state(kept.state),
            None if tables.active_principal(terms.tenant, terms.holder) else Refusal(Reason.REVOKED),
        ]
        if terms.grant_digest:
            against = grant_refusals(tables, terms.tenant, terms.grant_digest, now)
            found += [refusal and Refusal(refusal.reason) for refusal in against]
        return found
