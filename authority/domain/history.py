"""What became of a record and what it stands on, whatever its state: what an export tells (semantics §8)."""

from dataclasses import dataclass
from enum import Enum

from authority.domain.action_envelope import KeptEnvelope
from authority.domain.citation import Citation
from authority.domain.decision import Approval
from authority.domain.plan import StoredReceipt
from authority.domain.proposal import ProposalRevision
from authority.domain.record import MemoryRecord
from authority.domain.references import Instant
from authority.domain.statement import Statement


class RecordState(Enum):
    """Where a record stands; of two that apply the lower one."""

    LIVE = "live"
    NOT_YET_VALID = "not_yet_valid"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordHistory:
    """A record, its receipt if it has one, and what became of it since."""

    record: MemoryRecord
    receipt: StoredReceipt | None
    """None for a record that nobody validated: nothing proves it."""
    revoke_time: Instant | None
    """When its content was withdrawn first after it had been decided on."""
    revoke_note: str
    superseded_by: str
    """The record that corrects it; empty while none does."""
    supersede_time: Instant | None
    is_shown: bool
    """Whether the record's visibility includes whoever asked, whatever its state."""

    def state_at(self, now: Instant) -> RecordState:
        """Where the record stands at that time."""
        record = self.record
        if self.revoke_time is not None:
            return RecordState.REVOKED
        if self.superseded_by:
            return RecordState.SUPERSEDED
        if any(end is not None and end <= now for end in (record.expire_time, record.valid_until_time)):
            return RecordState.EXPIRED
        is_early = record.valid_from_time is not None and now < record.valid_from_time
        return RecordState.NOT_YET_VALID if is_early else RecordState.LIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditTrail:
    """What a commit stood on. A statement that the store lost, which nothing of ours does, is None."""

    capability: Statement | None
    validation: Statement | None
    decision: Statement | None
    approvals: tuple[Approval, ...]
    """What persons decided on the committed revision, in the order in which they did."""
    revisions: tuple[ProposalRevision, ...]
    """Of the proposal, the newest first."""
    citations: tuple[Citation, ...]
    """The first that were told, one more than an export tells."""
    envelope: KeptEnvelope | None = None
    """The envelope of upstream that proved the commit, when one did."""
