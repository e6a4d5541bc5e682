"""Stores over dicts that withdraw or correct memory wrongly on purpose, each in one way."""

from dataclasses import replace

from authority.domain.plan import CommitPlan
from authority.domain.record import MemoryRecord, RecordParties
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.inprocess.committer import InProcessCommitter
from authority.inprocess.record_revocations import InProcessRecordRevocations
from authority.usecases.ports import RequestMark, RevokedRecord


class BuriesNothing(InProcessRecordRevocations):
    """Says that it withdrew, and leaves no tombstone."""

    async def revoke_record(
        self, mark: RequestMark, record_id: str, note: str, traceparent: str, now: Instant
    ) -> RevokedRecord | Refusal:
        before = dict(self.tables.tombstones)
        answer = await super().revoke_record(mark, record_id, note, traceparent, now)
        self.tables.tombstones.clear()
        self.tables.tombstones.update(before)
        return answer


class TellsNobodyOfRevocations(InProcessRecordRevocations):
    """Withdraws, and writes no event."""

    async def revoke_record(
        self, mark: RequestMark, record_id: str, note: str, traceparent: str, now: Instant
    ) -> RevokedRecord | Refusal:
        before = len(self.tables.events)
        answer = await super().revoke_record(mark, record_id, note, traceparent, now)
        del self.tables.events[before:]
        return answer


class TellsTheLastRevocation(InProcessRecordRevocations):
    """Every revocation of a record is answered with its own time."""

    async def revoke_record(
        self, mark: RequestMark, record_id: str, note: str, traceparent: str, now: Instant
    ) -> RevokedRecord | Refusal:
        answer = await super().revoke_record(mark, record_id, note, traceparent, now)
        return answer if isinstance(answer, Refusal) else replace(answer, revoke_time=now)


class LetsAnAgentRevoke(InProcessRecordRevocations):
    """Takes the agent for the holder of every record."""

    async def parties_of(self, tenant: TenantRef, record_id: str) -> RecordParties | None:
        parties = await super().parties_of(tenant, record_id)
        return parties and replace(parties, holder=PrincipalRef("test", "agent"))


class LeavesTheCorrected(InProcessCommitter):
    """A correction is a record beside the one that it corrects."""

    def _supersede(self, plan: CommitPlan, correction: MemoryRecord) -> None:
        del plan, correction
