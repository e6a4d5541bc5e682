"""The ports `Validations` and `Approvals`."""

from dataclasses import dataclass, replace

from authority.domain.audit import AuditEvent
from authority.domain.decision import Approval, ApprovalVerdict
from authority.domain.likeness import NO_TRAITS, Traits
from authority.domain.proposal import ProposalState
from authority.domain.proposal_states import ACT_OF_VERDICT, UNEXPIRING, Act, judge_act, refusal_of, state_at
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.revocation import Revoked, RevokedKind
from authority.domain.validation import SignedValidation, ValidationReceipt
from authority.inprocess.erasing import erase_reviewed, note_secrets
from authority.inprocess.tables import Head, Tables
from authority.usecases.ports import RecordedApproval, RecordedValidation, RequestMark

_ACTS = {
    ProposalState.VALIDATING: Act.START_VALIDATING,
    ProposalState.VALIDATED: Act.PASS,
    ProposalState.REJECTED: Act.FAIL,
}


@dataclass(frozen=True, slots=True)
class InProcessValidations:
    """Implements `ports.Validations`."""

    tables: Tables

    async def duplicate_of(
        self,
        tenant: TenantRef,
        memory_namespace: str,
        content_digest: bytes,
        *,
        reader: PrincipalRef,
        corrects: str = "",
    ) -> str | None:
        """The living record that holds exactly this content, other than the one that is to be corrected."""
        wanted = (memory_namespace, content_digest)
        living = (it for it in self.tables.living_records(tenant, reader) if it.record_id != corrects)
        return next((it.record_id for it in living if (it.memory_namespace, it.content_digest) == wanted), None)

    async def answered(self, mark: RequestMark) -> RecordedValidation | Refusal | None:
        """What this request was answered with when it came before."""
        return self.tables.answered(mark, RecordedValidation)

    async def begin(self, mark: RequestMark, proposal_id: str, revision: int, now: Instant) -> None:
        """Moves a revision that was only proposed to VALIDATING."""
        head = self.tables.heads.get((mark.tenant, proposal_id))
        if head is None or (head.revision, head.state) != (revision, ProposalState.PROPOSED):
            return
        self.tables.heads[mark.tenant, proposal_id] = replace(head, state=ProposalState.VALIDATING)
        event = mark.event(
            "proposal.validate",
            proposal_id,
            (ProposalState.PROPOSED.value, ProposalState.VALIDATING.value),
            now,
            correlation_id=self.tables.revisions[mark.tenant, proposal_id, revision].revision.correlation_id,
        )
        self.tables.tell(event)

    async def erase_reviewed(self, now: Instant) -> int:
        """Erases what is to be."""
        return erase_reviewed(self.tables, now)

    async def keep(
        self, mark: RequestMark, signed: SignedValidation, state: ProposalState, traits: Traits = NO_TRAITS
    ) -> RecordedValidation | Refusal:
        """Keeps the receipt and moves the revision on, unless a person turned it down."""
        receipt = signed.receipt
        if earlier := self.tables.answered(mark, RecordedValidation):
            return earlier
        key = (mark.tenant, receipt.proposal_id, receipt.proposal_revision)
        head = _current_head(self.tables, *key, receipt.validate_time)
        if isinstance(head, Refusal):
            return head
        decided = self.tables.approvals_of(*key)
        turned_down = bool(decided) and decided[-1].verdict.turns_down
        judged = judge_act(head.state, _ACTS[state], turned_down=turned_down)
        if isinstance(judged, Refusal):
            return judged
        if not self.tables.revisions[key].content:
            return Refusal(Reason.NOT_VALIDATED, {"problem": "content erased"})
        note_secrets(self.tables, receipt)
        self.tables.validations[mark.tenant, signed.digest] = signed
        self.tables.traits[mark.tenant, receipt.proposal_id, receipt.proposal_revision] = traits
        self.tables.heads[mark.tenant, receipt.proposal_id] = replace(head, state=state)
        states = (head.state, state)
        self.tables.tell(_event(self.tables, mark, "validate", receipt, states, receipt.validate_time))
        return self.tables.answer(mark, RecordedValidation(signed, state))


@dataclass(frozen=True, slots=True)
class InProcessApprovals:
    """Implements `ports.Approvals`."""

    tables: Tables

    async def decide(
        self, mark: RequestMark, approval: Approval, state: ProposalState, refusal: Refusal | None = None
    ) -> RecordedApproval | Refusal:
        """Keeps the decision on the newest validation."""
        if earlier := self.tables.answered(mark, RecordedApproval):
            return earlier
        if refusal:
            return refusal
        key = (mark.tenant, approval.proposal_id, approval.proposal_revision)
        head = _current_head(self.tables, *key, approval.decide_time)
        if isinstance(head, Refusal):
            return head
        judged = judge_act(head.state, ACT_OF_VERDICT[approval.verdict])
        if isinstance(judged, Refusal):
            return judged
        validation = self.tables.newest_validation(*key)
        if validation is None:
            return Refusal(Reason.NOT_VALIDATED)
        self._withdraw_approvals(mark.tenant, approval)
        self.tables.keep_approval(
            replace(approval, validation_receipt_digest=validation.digest), self.tables.next_sequence()
        )
        self.tables.heads[mark.tenant, approval.proposal_id] = replace(head, state=state)
        self.tables.tell(approval_event(self.tables, mark, approval, (head.state, state)))
        return self.tables.answer(mark, RecordedApproval(approval.reference, state))

    async def claim(self, mark: RequestMark, now: Instant) -> Refusal | None:
        """Takes the request id for a request that asks for many decisions."""
        del now
        earlier = self.tables.answered(mark, bool)
        if not isinstance(earlier, Refusal):
            self.tables.answer(mark, True)  # noqa: FBT003 - the answer is that it was asked
            return None
        return earlier

    def _withdraw_approvals(self, tenant: TenantRef, decision: Approval) -> None:
        """Tells the feed of every approval that a decision against takes back."""
        if not decision.verdict.is_against:
            return
        decided = self.tables.approvals_of(tenant, decision.proposal_id, decision.proposal_revision)
        for number, earlier in enumerate(decided):
            stands = earlier.verdict is ApprovalVerdict.APPROVE and earlier.decided_by is not None
            if stands and not any(later.verdict.is_against for later in decided[number:]):
                taken_back = Revoked(
                    tenant=tenant,
                    kind=RevokedKind.APPROVAL,
                    subject=earlier.reference,
                    revoke_time=decision.decide_time,
                )
                self.tables.withdraw(taken_back)


def approval_event(
    tables: Tables, mark: RequestMark, approval: Approval, states: tuple[ProposalState, ProposalState]
) -> AuditEvent:
    """What the audit log tells of a person's decision."""
    return _event(tables, mark, approval.verdict.value, approval, states, approval.decide_time)


def _event(
    tables: Tables,
    mark: RequestMark,
    verb: str,
    of: ValidationReceipt | Approval,
    states: tuple[ProposalState, ProposalState],
    time: Instant,
) -> AuditEvent:
    revision = tables.revisions[mark.tenant, of.proposal_id, of.proposal_revision].revision
    return mark.event(
        f"proposal.{verb}",
        of.proposal_id,
        (states[0].value, states[1].value),
        time,
        correlation_id=revision.correlation_id,
    )


def _current_head(tables: Tables, tenant: TenantRef, proposal_id: str, revision: int, now: Instant) -> Head | Refusal:
    """The head, when the revision is the current one and can still move."""
    head = tables.heads.get((tenant, proposal_id))
    if head is None:
        return Refusal(Reason.NOT_FOUND)
    if head.revision != revision:
        return refusal_of(ProposalState.SUPERSEDED)
    state = state_at(head.state, tables.revisions[tenant, proposal_id, revision].revision.expire_time, now)
    is_over = state in UNEXPIRING or state is ProposalState.EXPIRED
    return refusal_of(state, head.receipt_id or "") if is_over else head
