"""Withdrawals of learned memory, alone under their tenant's lock (data.md, lock order)."""

from dataclasses import dataclass

from authority.domain.reasons import Reason
from authority.domain.record import RecordParties
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal
from authority.postgres import rows
from authority.postgres.connections import Connection, Database, Refused
from authority.postgres.relay_wake import RelayWake
from authority.postgres.requests import claim_request
from authority.postgres.sql import query
from authority.postgres.withdrawing import lock_tenant
from authority.usecases.ports import RequestMark, RevokedRecord


@dataclass(frozen=True, slots=True)
class PostgresRecordRevocations:
    """Implements `ports.RecordRevocations`.

    `source` names this authority in events; `relay` is woken after a revocation, when given.
    """

    database: Database
    source: str
    relay: RelayWake | None = None

    async def parties_of(self, tenant: TenantRef, record_id: str) -> RecordParties | None:
        """Whose the record is, whatever became of it."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            row = await connection.fetchrow(query("record_parties"), str(tenant), record_id)
        return RecordParties(rows.principal_ref(row["proposer"]), rows.principal_ref(row["holder"])) if row else None

    async def revoke_record(
        self, mark: RequestMark, record_id: str, note: str, traceparent: str, now: Instant
    ) -> RevokedRecord | Refusal:
        """Buries the content, and tells of each record that goes with it. No commit that ignores it can land then."""
        tenant = str(mark.tenant)

        async def work(connection: Connection) -> RevokedRecord:
            await lock_tenant(connection, mark.tenant)
            await claim_request(connection, mark, record_id, now)
            found = await connection.fetchrow(query("first_withdrawal"), tenant, record_id)
            if found is None:
                raise Refused(Refusal(Reason.NOT_FOUND))
            if found["sequence"] is not None:
                return RevokedRecord(Instant(found["create_time"]), found["sequence"], replayed=True)
            return await bury(connection, Burial(mark, record_id, note, traceparent, now, self.source), found)

        answer = await self.database.attempt(mark.tenant, work)
        if self.relay and isinstance(answer, RevokedRecord) and not answer.replayed:
            self.relay.wake()
        return answer


@dataclass(frozen=True, slots=True)
class Burial:
    """Who withdraws which record, why, and what is told of it under which name of this authority."""

    mark: RequestMark
    record_id: str
    note: str
    traceparent: str
    now: Instant
    source: str


async def bury(connection: Connection, burial: Burial, found: rows.Row) -> RevokedRecord:
    """Withdraws what the record says, for ever, and tells of each record of that content.

    The caller has `lock_tenant`, and then `found` the content by `first_withdrawal`, not withdrawn yet.
    """
    mark, now = burial.mark, burial.now
    sequence = await connection.fetchval(query("next_sequence"))
    content = (str(mark.tenant), found["memory_namespace"], found["content_digest"])
    told = (burial.source, now, sequence, burial.traceparent, str(mark.principal), mark.trace_id, burial.record_id)
    await connection.execute(query("tell_revoked"), *content, *told)
    await connection.execute(query("insert_tombstone"), *content, sequence, burial.note, now)
    return RevokedRecord(now, sequence, replayed=False)
