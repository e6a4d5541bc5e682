"""The port `RecordRevocations`."""

from dataclasses import dataclass
from uuid import uuid4

from authority.domain.audit import AuditEvent
from authority.domain.reasons import Reason
from authority.domain.record import RecordParties
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.revocation import Revoked, RevokedKind
from authority.inprocess.events import Occasion, tell
from authority.inprocess.tables import KeptRecord, Tables
from authority.usecases.ports import RequestMark, RevokedRecord


@dataclass(frozen=True, slots=True)
class InProcessRecordRevocations:
    """Implements `ports.RecordRevocations`. Keeps no notes, for nothing reads them. `source` is the name in events."""

    tables: Tables
    source: str

    async def parties_of(self, tenant: TenantRef, record_id: str) -> RecordParties | None:
        """Whose the record is, whatever became of it."""
        kept = self.tables.records.get((tenant, record_id))
        if kept is None:
            return None
        receipt = self.tables.receipts.get((tenant, kept.record.receipt_id))
        return RecordParties(kept.record.proposer, receipt.claim.holder if receipt else kept.record.proposer)

    async def revoke_record(
        self,
        mark: RequestMark,
        record_id: str,
        note: str,
        traceparent: str,
        now: Instant,
    ) -> RevokedRecord | Refusal:
        """Buries the content, and tells of each record that goes with it."""
        answered = self.tables.answered(mark, RevokedRecord)
        if isinstance(answered, Refusal):
            return answered
        kept = self.tables.records.get((mark.tenant, record_id))
        if kept is None:
            return Refusal(Reason.NOT_FOUND)
        first = self.tables.withdrawal_of(kept)
        if first:
            return self.tables.answer(mark, RevokedRecord(first.time, first.sequence, replayed=True))
        return self.tables.answer(mark, self.bury(mark, kept, note, traceparent, now))

    def bury(self, mark: RequestMark, kept: KeptRecord, note: str, traceparent: str, now: Instant) -> RevokedRecord:
        """Withdraws what the record says, which nobody did yet."""
        record = kept.record
        same = [
            other
            for other in self.tables.records.values()
            if (other.record.tenant, other.record.memory_namespace, other.record.content_digest)
            == (record.tenant, record.memory_namespace, record.content_digest)
            and not self.tables.withdrawal_of(other)
        ]
        sequence = self.tables.bury(record.tenant, record.memory_namespace, record.content_digest, now, note)
        for other in same:
            named = other.record.record_id == record.record_id
            self.tables.withdraw(_fact(other, now), sequence if named else None)
            self.tables.tell(_event(mark, other, now))
            occasion = Occasion(str(uuid4()), self.source, traceparent, now, {"revocationSequence": sequence})
            tell(self.tables, other.record, "memory.revoked.v1", 3 if other.superseded_by else 2, occasion)
        return RevokedRecord(now, sequence, replayed=False)


def _fact(kept: KeptRecord, now: Instant) -> Revoked:
    record = kept.record
    return Revoked(
        tenant=record.tenant,
        kind=RevokedKind.RECORD,
        subject=record.record_id,
        revoke_time=now,
        memory_namespace=record.memory_namespace,
        content_digest=record.content_digest,
    )


def _event(mark: RequestMark, kept: KeptRecord, now: Instant) -> AuditEvent:
    record = kept.record
    return mark.event(
        "memory.revoke",
        record.record_id,
        ("superseded" if kept.superseded_by else "live", "revoked"),
        now,
        correlation_id=record.correlation_id,
    )
