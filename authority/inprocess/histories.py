"""The port `Histories`."""

from dataclasses import dataclass

from authority.domain.action_envelope import ActionProof, KeptEnvelope
from authority.domain.history import AuditTrail, RecordHistory
from authority.domain.plan import CommitReceipt
from authority.domain.references import PrincipalRef, TenantRef
from authority.inprocess.tables import Tables


@dataclass(frozen=True, slots=True)
class InProcessHistories:
    """Implements `ports.Histories`."""

    tables: Tables

    async def of_record(self, tenant: TenantRef, record_id: str, reader: PrincipalRef) -> RecordHistory | None:
        """The record with its receipt, whatever became of it."""
        kept = self.tables.records.get((tenant, record_id))
        if kept is None:
            return None
        withdrawal = self.tables.withdrawal_of(kept)
        receipt = self.tables.receipts.get((tenant, kept.record.receipt_id))
        return RecordHistory(
            record=kept.record,
            receipt=receipt.stored if receipt else None,
            revoke_time=withdrawal.time if withdrawal else None,
            revoke_note=withdrawal.note if withdrawal else "",
            superseded_by=kept.superseded_by,
            supersede_time=kept.supersede_time,
            is_shown=self.tables.is_shown(kept.record, self.tables.reader(tenant, reader)),
        )

    async def trail(self, tenant: TenantRef, receipt: CommitReceipt, most: int) -> AuditTrail:
        """What the receipt's capability names, by ids and digests."""
        terms, tables = receipt.capability, self.tables
        capability = tables.capabilities.get((tenant, terms.capability_id))
        validation = tables.validations.get((tenant, terms.validation_receipt_digest))
        decision = tables.decisions.get((tenant, terms.decision_receipt_digest))
        revisions = [it.revision for key, it in tables.revisions.items() if key[:2] == (tenant, terms.proposal_id)]
        citations = [it for _, it in sorted(tables.citations.items()) if it.tenant == tenant]
        return AuditTrail(
            capability=capability.opened.statement if capability else None,
            validation=validation.statement if validation else None,
            decision=decision.statement if decision else None,
            approvals=tables.approvals_of(tenant, terms.proposal_id, terms.proposal_revision)[-most:],
            revisions=tuple(sorted(revisions, key=lambda it: it.revision, reverse=True)[:most]),
            citations=tuple(it for it in citations if it.record_id == receipt.record_id)[:most],
            envelope=_kept(tables.upstream_proofs.get((tenant, receipt.receipt_id))),
        )


def _kept(proof: ActionProof | None) -> KeptEnvelope | None:
    return KeptEnvelope(proof.envelope.presented, proof.envelope.digest, proof.key_id) if proof else None
