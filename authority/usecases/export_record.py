"""Hands a record over with everything that proves it, to be checked without us (semantics §8)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from authority.domain import limits
from authority.domain.history import AuditTrail, RecordHistory, RecordState
from authority.domain.identity import Caller, PrincipalKind, Right, require
from authority.domain.proposal import ProposalRevision
from authority.domain.reasons import Reason
from authority.domain.references import Instant
from authority.domain.refusal import Refusal
from authority.domain.statement import Statement
from authority.usecases.admit import Admit
from authority.usecases.ports import Clock, Histories, Signer, Statements


class ExportForm(Enum):
    """How much is handed over."""

    COMPACT = "compact"
    """The record and its receipt."""
    AUDIT = "audit"
    """Also what the commit stood on, who cites it, and what became of it."""


@dataclass(frozen=True, slots=True)
class ExportedRevision:
    """A revision as its digest is reckoned: payload type and payload bytes."""

    payload_type: str
    payload: bytes


@dataclass(frozen=True, slots=True)
class ExportedTrail:
    """What a commit stood on, as far as it fits into an answer."""

    trail: AuditTrail
    revisions: Sequence[ExportedRevision]
    revisions_left_out: int


@dataclass(frozen=True, slots=True)
class RecordExport:
    """A record with what proves it, and what vouches for its receipt if the key that signed it was revoked since.

    Of a record that nobody validated there is neither.
    """

    history: RecordHistory
    state: RecordState
    attestation: Statement | None
    export_time: Instant
    trail: ExportedTrail | None
    """In the audit form."""


@dataclass(frozen=True, slots=True)
class ExportRecord:
    """Visible records to whoever may read; every record of the tenant to its admins, in the audit form alone."""

    admit: Admit
    statements: Statements
    signer: Signer
    histories: Histories
    clock: Clock

    async def __call__(self, caller: Caller, record_id: str, form: ExportForm) -> RecordExport | Refusal:
        """The record with its proofs.

        Refusals: NOT_ALLOWED without the right to read; NOT_FOUND for what is absent and for what the caller may not
        see, alike.
        """
        if refusal := await self.admit(caller) or require(caller, Right.READ):
            return refusal
        history, now = await self.histories.of_record(caller.tenant, record_id, caller.ref), self.clock.now()
        if history is None or not _may_have(caller, history, form, now):
            return Refusal(Reason.NOT_FOUND)
        return RecordExport(
            history=history,
            state=history.state_at(now),
            attestation=self._attestation(caller, history, now),
            export_time=now,
            trail=await self._trail(caller, history) if form is ExportForm.AUDIT else None,
        )

    def _attestation(self, caller: Caller, history: RecordHistory, now: Instant) -> Statement | None:
        if history.receipt is None:
            return None
        return self.signer.attestation(caller.tenant, history.receipt.statement, now)

    async def _trail(self, caller: Caller, history: RecordHistory) -> ExportedTrail | None:
        if history.receipt is None:
            return None  # What nobody validated stands on nothing.
        receipt = self.statements.open_receipt(history.receipt.statement)
        if isinstance(receipt, Refusal):
            return None  # A receipt that is none names nothing to be told of.
        trail = await self.histories.trail(caller.tenant, receipt, limits.EXPORT_ITEMS + 1)
        revisions = list(_fitting(map(self._revision, _committed_first(trail, receipt.capability.proposal_revision))))
        return ExportedTrail(trail, revisions, len(trail.revisions) - len(revisions))

    def _revision(self, revision: ProposalRevision) -> ExportedRevision:
        return ExportedRevision(*self.statements.proposal_payload(revision))


def _may_have(caller: Caller, history: RecordHistory, form: ExportForm, now: Instant) -> bool:
    # An admin must be able to answer what was learned, from what, and who allowed it: of every record of its tenant.
    is_auditor = caller.principal.kind is PrincipalKind.ADMIN and form is ExportForm.AUDIT
    return is_auditor or (history.is_shown and history.state_at(now) is RecordState.LIVE)


def _committed_first(trail: AuditTrail, committed: int) -> list[ProposalRevision]:
    """The committed revision, which must not be left out, and then the others, the newest first."""
    return sorted(trail.revisions, key=lambda it: (it.revision != committed, -it.revision))


def _fitting(revisions: Iterator[ExportedRevision]) -> Iterator[ExportedRevision]:
    total = 0
    for number, revision in enumerate(revisions):
        total += len(revision.payload)
        if number and total > limits.EXPORT_REVISION_BYTES:
            return
        yield revision
