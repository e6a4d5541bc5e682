"""The port `Decisions`."""

from dataclasses import dataclass

from authority.domain.audit import AuditEvent
from authority.domain.citation import CitedMemory, cited_memory
from authority.domain.decision import (
    Approval,
    ApprovalVerdict,
    DeciderKind,
    DecisionFacts,
    DecisionReceipt,
    SignedDecision,
)
from authority.domain.proposal import ProposalRevision
from authority.domain.reasons import Reason
from authority.domain.references import PrincipalRef
from authority.domain.refusal import Refusal
from authority.inprocess.tables import Tables
from authority.usecases.ports import Clock, Decide, RequestMark


@dataclass(frozen=True, slots=True)
class InProcessDecisions:
    """Implements `ports.Decisions`."""

    tables: Tables
    clock: Clock

    async def decide(
        self, mark: RequestMark, proposal_id: str, revision: int, holder: PrincipalRef, decide: Decide
    ) -> SignedDecision | Refusal:
        """Draws a sequence, reads the facts, has them decided and keeps the answer."""
        if earlier := self.tables.answered(mark, SignedDecision):
            return earlier
        sequence, tenant = self.tables.next_sequence(), mark.tenant
        proposal = self.tables.proposal(tenant, proposal_id, revision)
        if proposal is None:
            return Refusal(Reason.NOT_FOUND)
        namespace = self.tables.namespaces[tenant, proposal.revision.memory_namespace]
        key = (tenant, proposal_id, proposal.revision.revision)
        facts = DecisionFacts(
            proposal=proposal,
            is_newest_revision=self.tables.is_current(proposal),
            validation=self.tables.newest_validation(*key),
            approvals=self.tables.approvals_of(*key),
            deciders=self.tables.deciders_of(*key),
            namespace=namespace,
            holder=self.tables.active_principal(tenant, holder),
            bundle=self.tables.policies[namespace.policy_version][1],
            cited=self._cited(proposal.revision),
            externals=self.tables.externals_of(tenant),
        )
        signed = decide(facts, sequence)
        if isinstance(signed, Refusal):
            return signed
        self.tables.decisions[tenant, signed.digest] = signed
        self.tables.approval_uses.update(signed.receipt.approval_references)
        if signed.receipt.activates:
            self.tables.keep_approval(_activation(signed.receipt), sequence)
        self.tables.tell(_event(mark, signed))
        return self.tables.answer(mark, signed)

    def _cited(self, revision: ProposalRevision) -> CitedMemory:
        """As its proposer may read it."""
        now = self.clock.now()
        read = self.tables.recalled_records(revision.tenant, revision.proposer, now, with_unvalidated=False)
        return cited_memory(revision.source_refs, {it.record_id: it.validated for it in read})


def _activation(receipt: DecisionReceipt) -> Approval:
    return Approval(
        reference=receipt.decision_id,
        tenant=receipt.tenant,
        proposal_id=receipt.proposal_id,
        proposal_revision=receipt.proposal_revision,
        proposal_digest=receipt.proposal_digest,
        validation_receipt_digest=receipt.validation_receipt_digest,
        verdict=ApprovalVerdict.APPROVE,
        decided_by=None,
        decided_by_kind=DeciderKind.SYSTEM_POLICY,
        note="",
        decide_time=receipt.decide_time,
        expire_time=receipt.expire_time,
        holder=receipt.holder,
        policy_version=receipt.policy_version,
        determining_policies=receipt.determining_policies,
    )


def _event(mark: RequestMark, signed: SignedDecision) -> AuditEvent:
    receipt = signed.receipt
    return mark.event(
        "policy.decide",
        f"{receipt.proposal_id}:{receipt.proposal_revision}",
        ("", receipt.next_state),
        receipt.decide_time,
        correlation_id=receipt.correlation_id,
    )
