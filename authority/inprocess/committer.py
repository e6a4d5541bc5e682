"""The port `Committer`: what the database's commit function does, over dicts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from authority.domain.action_envelope import NOT_BY_HOLDER
from authority.domain.audit import AuditEvent
from authority.domain.plan import CommitOutcome, CommitPlan, Committed, Conflicting, StoredReceipt
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.reasons import Reason
from authority.domain.record import MemoryRecord
from authority.domain.refusal import Refusal, highest
from authority.domain.statement import Statement
from authority.inprocess.events import Occasion, tell
from authority.inprocess.judgement import is_revoked, live_refusals
from authority.inprocess.key_aliases import InProcessKeyAliases
from authority.inprocess.tables import KeptReceipt, KeptRecord, Tables
from authority.usecases.ports import Clock


@dataclass(frozen=True, slots=True)
class InProcessCommitter:
    """Implements `ports.Committer`. Nothing else runs meanwhile: no plan is ever in progress."""

    tables: Tables
    clock: Clock

    async def commit_together(self, plans: Sequence[CommitPlan], deadline: float) -> list[CommitOutcome | Exception]:
        """One after the other."""
        return [await self.commit(plan, deadline) for plan in plans]

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:  # noqa: ARG002 - nothing waits here
        """In this order: replay, conflict, the highest refusal among the carried and the live ones, committed."""
        claim = plan.claim
        settled = self.tables.settled(claim.tenant, claim.holder, claim.idempotency_key)
        if settled and settled.fingerprint == claim.fingerprint:
            return Committed(settled, replayed=settled.receipt_id != plan.receipt_id)
        if settled:
            return Conflicting(settled)
        if plan.receipt and is_revoked(self.tables, plan.receipt.key_id):
            # The caller's next call signs with another key.
            return Refusal(Reason.DEPENDENCY_UNAVAILABLE)
        live = live_refusals(self.tables, plan, self.clock.now())
        refusal = highest((plan.refusal, await self._judge_name(plan), *live))
        return refusal or self._write(plan)

    async def _judge_name(self, plan: CommitPlan) -> Refusal | None:
        """PROOF_INVALID when an envelope calls its key by a name that stands for it no more."""
        proof = plan.action_proof
        if proof is None or proof.envelope.key_name == proof.key_id:
            return None
        named = await InProcessKeyAliases(self.tables).key_called(plan.claim.tenant, proof.envelope.key_name)
        return None if named and named.key_id == proof.key_id else NOT_BY_HOLDER

    def _write(self, plan: CommitPlan) -> Committed:
        tables, terms, tenant = self.tables, plan.capability.terms, plan.claim.tenant
        assert plan.receipt is not None
        stored = self._keep_receipt(plan, plan.receipt)
        proposal = tables.revisions[tenant, terms.proposal_id, terms.proposal_revision]
        decision = tables.decisions[tenant, terms.decision_receipt_digest]
        record = _record(plan, proposal)
        tables.records[tenant, plan.record_id] = KeptRecord(record, decision.receipt.sequence)
        occasion = Occasion(plan.event_id, terms.issuer, plan.traceparent, plan.planned_time)
        tell(tables, record, "memory.committed.v1", 1, occasion)
        tables.tell(_audited(plan, record, "memory.commit", "issued", "consumed"))
        if record.supersedes_record_id:
            self._supersede(plan, record)
        if plan.action_proof:
            tables.upstream_proofs[tenant, plan.receipt_id] = plan.action_proof
            digest = f"sha256:{plan.action_proof.envelope.digest.hex()}"
            tables.tell(replace(_audited(plan, record, "memory.prove", "", digest), costs=()))
        capability = tables.capabilities[tenant, terms.capability_id]
        tables.capabilities[tenant, terms.capability_id] = replace(capability, state="consumed")
        head = tables.heads[tenant, terms.proposal_id]
        tables.heads[tenant, terms.proposal_id] = replace(
            head, state=ProposalState.COMMITTED, receipt_id=plan.receipt_id
        )
        return Committed(stored, replayed=False)

    def _supersede(self, plan: CommitPlan, correction: MemoryRecord) -> None:
        key = (correction.tenant, correction.supersedes_record_id)
        kept = self.tables.records[key]
        self.tables.records[key] = replace(kept, superseded_by=correction.record_id, supersede_time=plan.planned_time)
        more = {"supersededBy": correction.record_id}
        source = plan.capability.terms.issuer
        occasion = Occasion(str(uuid4()), source, plan.traceparent, plan.planned_time, more)
        tell(self.tables, kept.record, "memory.corrected.v1", 2, occasion)
        told = _audited(plan, kept.record, "memory.correct", "live", "superseded")
        self.tables.tell(replace(told, costs=()))

    def _keep_receipt(self, plan: CommitPlan, receipt: Statement) -> StoredReceipt:
        stored = StoredReceipt(plan.receipt_id, plan.record_id, receipt, plan.claim.fingerprint)
        terms = plan.capability.terms
        self.tables.receipts[plan.claim.tenant, plan.receipt_id] = KeptReceipt(
            stored, plan.claim, terms.capability_id, terms.proposal_id, terms.memory_namespace
        )
        return stored


def _audited(plan: CommitPlan, record: MemoryRecord, kind: str, previous_state: str, next_state: str) -> AuditEvent:
    return AuditEvent(
        tenant=record.tenant,
        kind=kind,
        actor=plan.claim.holder,
        subject=record.record_id,
        previous_state=previous_state,
        next_state=next_state,
        time=plan.planned_time,
        costs=record.costs,
        correlation_id=record.correlation_id,
        trace_id=plan.traceparent.partition("-")[2].partition("-")[0],
    )


def _record(plan: CommitPlan, proposal: StoredProposal) -> MemoryRecord:
    revision = proposal.revision
    return MemoryRecord(
        record_id=plan.record_id,
        tenant=plan.claim.tenant,
        memory_namespace=revision.memory_namespace,
        memory_type=revision.memory_type,
        provenance=revision.provenance,
        content=proposal.content,
        content_digest=revision.content_digest,
        media_type=revision.media_type,
        proposer=revision.proposer,
        proposal_id=revision.proposal_id,
        proposal_revision=revision.revision,
        receipt_id=plan.receipt_id,
        source_refs=revision.source_refs,
        subject_refs=revision.subject_refs,
        evidence_digests=revision.evidence_digests,
        visibility=revision.visibility,
        valid_from_time=revision.valid_from_time,
        valid_until_time=revision.valid_until_time,
        expire_time=revision.record_expire_time,
        create_time=plan.planned_time,
        costs=revision.costs,
        correlation_id=plan.capability.terms.correlation_id,
        supersedes_record_id=revision.supersedes_record_id,
        visibility_scope=revision.visibility_scope,
    )
