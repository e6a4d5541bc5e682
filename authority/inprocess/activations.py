"""The port `Activations`."""

from dataclasses import dataclass, replace

from authority.domain.activation import Activation, judge_adoption, judge_taking_back
from authority.domain.decision import Approval, ApprovalVerdict, DeciderKind
from authority.domain.proposal import ProposalState
from authority.domain.proposal_states import state_at
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.inprocess.record_revocations import InProcessRecordRevocations
from authority.inprocess.reviews import approval_event
from authority.inprocess.tables import KeptRecord, Tables
from authority.usecases.ports import RecordedApproval, RequestMark


@dataclass(frozen=True, slots=True)
class InProcessActivations:
    """Implements `ports.Activations`. `source` is the name in events."""

    tables: Tables
    source: str

    async def adopt(
        self, mark: RequestMark, approval: Approval, refusal: Refusal | None = None
    ) -> RecordedApproval | Refusal:
        """Makes it final."""
        if earlier := self.tables.answered(mark, RecordedApproval):
            return earlier
        found = self._found(approval)
        against = refusal or (Refusal(Reason.NOT_FOUND) if found is None else judge_adoption(found))
        if against or found is None:
            return against or Refusal(Reason.NOT_FOUND)
        return self._keep(mark, approval, found.state)

    async def take_back(
        self, mark: RequestMark, approval: Approval, traceparent: str, refusal: Refusal | None = None
    ) -> RecordedApproval | Refusal:
        """Revokes the record with it."""
        if earlier := self.tables.answered(mark, RecordedApproval):
            return earlier
        found = self._found(approval)
        against = refusal or (Refusal(Reason.NOT_FOUND) if found is None else judge_taking_back(found))
        if against or found is None:
            return against or Refusal(Reason.NOT_FOUND)
        record = self.tables.records[mark.tenant, found.record_id]
        recorded = self._keep(mark, approval, found.state)
        revocations = InProcessRecordRevocations(self.tables, self.source)
        revocations.bury(mark, record, approval.note, traceparent, approval.decide_time)
        return recorded

    def _keep(self, mark: RequestMark, approval: Approval, state: ProposalState) -> RecordedApproval | Refusal:
        key = (approval.tenant, approval.proposal_id, approval.proposal_revision)
        validation = self.tables.newest_validation(*key)
        if validation is None:
            return Refusal(Reason.NOT_VALIDATED)
        kept = replace(approval, validation_receipt_digest=validation.digest)
        self.tables.keep_approval(kept, self.tables.next_sequence())
        self.tables.tell(approval_event(self.tables, mark, kept, (state, state)))
        return self.tables.answer(mark, RecordedApproval(approval.reference, state))

    def _found(self, approval: Approval) -> Activation | None:
        key = (approval.tenant, approval.proposal_id, approval.proposal_revision)
        head = self.tables.heads.get(key[:2])
        if head is None:
            return None
        state = head.state if head.revision == approval.proposal_revision else ProposalState.SUPERSEDED
        record = self._record(approval, head.receipt_id)
        decided = self.tables.approvals_of(*key)
        return Activation(
            state=state_at(state, self.tables.revisions[key].revision.expire_time, approval.decide_time),
            receipt_id=head.receipt_id or "",
            record_id=record.record.record_id if record else "",
            reference=self._standing(decided, record),
            is_adopted=any(it.verdict is ApprovalVerdict.ADOPT for it in decided),
            is_withdrawn=record is not None and self.tables.withdrawal_of(record) is not None,
        )

    def _record(self, approval: Approval, receipt_id: str | None) -> KeptRecord | None:
        records = (kept for (tenant, _), kept in self.tables.records.items() if tenant == approval.tenant)
        return next((kept for kept in records if kept.record.receipt_id == receipt_id), None)

    def _standing(self, decided: tuple[Approval, ...], record: KeptRecord | None) -> str:
        """Policy's newest decision that nobody took back; of a record, the one that it rests on."""
        for number in range(len(decided) - 1, -1, -1):
            approval = decided[number]
            if approval.verdict.is_against:
                break
            is_meant = record is None or self.tables.approval_sequences[approval.reference] == record.decision_sequence
            if approval.decided_by_kind is DeciderKind.SYSTEM_POLICY and is_meant:
                return approval.reference
        return ""
