"""The audit log: written in the transaction of each change of state, read by admins (semantics §9)."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.audit import AuditEvent, AuditFilter, ToldEvent
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal, malformed
from authority.postgres import rows
from authority.postgres.audit_position import BEGINNING, Place, Position, Seen, position_of
from authority.postgres.connections import Connection, Database, await_standby
from authority.postgres.rows import cost_documents
from authority.postgres.sql import query
from authority.usecases.ports import AuditNews

_LAST_ID = 2**63 - 1


async def append(connection: Connection, event: AuditEvent) -> None:
    """Writes the event. Raises asyncpg.PostgresError, which must end the transaction."""
    await connection.execute(
        query("append_audit_event"),
        str(event.tenant),
        event.kind,
        str(event.actor),
        event.subject,
        event.previous_state,
        event.next_state,
        cost_documents(event.costs),
        event.correlation_id,
        event.trace_id,
        event.time,
    )


@dataclass(frozen=True, slots=True)
class PostgresAuditLog:
    """Implements `ports.AuditLog`."""

    database: Database

    async def page(
        self, tenant: TenantRef, wanted: AuditFilter, *, oldest_first: bool, after: str, size: int
    ) -> Sequence[ToldEvent]:
        """Events by their ids, rising or falling."""
        name = "audit_page_oldest_first" if oldest_first else "audit_page_newest_first"
        first = 0 if oldest_first else _LAST_ID
        async with self.database.transaction(tenant) as connection:
            await connection.execute(query("plan_for_these_values"))
            found = await connection.fetch(
                query(name), str(tenant), *_conditions(wanted), int(after) if after else first, size
            )
            await await_standby(connection)
        return [_told(row) for row in found]

    async def now(self, tenant: TenantRef) -> str:
        """The position after everything that is visible now."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            place, _ = await _place_and_time(connection)
            seen = await connection.fetchval(query("audit_snapshot"))
        return str(Position(place, Seen.of(seen)))

    async def news(self, tenant: TenantRef, wanted: AuditFilter, after: str, size: int) -> AuditNews | Refusal:
        """What became visible since the position, in the order of the transactions that wrote it.

        What is new is fixed by two snapshots, the one that was seen and a later one, and is read in parts: rows that
        the second shows and the first does not. So nothing is lost and nothing told twice, whatever commits meanwhile
        and in whatever order (case H01).
        """
        async with self.database.transaction(tenant) as connection:
            place, read_time = await _place_and_time(connection)
            position = Position(place, BEGINNING) if not after else position_of(after)
            now = Seen.of(await connection.fetchval(query("audit_snapshot")))
            if position is None or position.place != place or position.is_ahead_of(now):
                return malformed(
                    "cursor",
                    "must be the cursor of the same query on this database; one that was restored or failed over since"
                    " begins anew: list what it has, and watch without a cursor",
                )
            await connection.execute(query("plan_for_these_values"))
            found, position = await _read(connection, tenant, wanted, position.until(now), size)
            if not found and position.until_seen != now:
                # What was begun earlier had no more parts: there may be something since.
                found, position = await _read(connection, tenant, wanted, position.done().until(now), size)
            if found:
                await await_standby(connection)
        last = found[-1] if len(found) == size else None
        reached = position.within(last["xid"], last["event_id"]) if last else position.done()
        return AuditNews([_told(row) for row in found], str(reached), has_more=last is not None, read_time=read_time)

    async def changed(self, tenants: Sequence[TenantRef], since: str) -> tuple[frozenset[TenantRef], str]:
        """Which tenants have events since what was seen, and what is seen now. All, when nothing was seen before."""
        async with self.database.transaction(*tenants, read_only=True) as connection:
            now = await connection.fetchval(query("audit_snapshot"))
            if not since:
                return frozenset(tenants), now
            names = [str(tenant) for tenant in tenants]
            found = await connection.fetch(query("audit_changed"), names, since, Seen.of(since).least)
        return frozenset(rows.tenant_ref(row["tenant"]) for row in found), now


async def _read(
    connection: Connection, tenant: TenantRef, wanted: AuditFilter, position: Position, size: int
) -> tuple[list[rows.Row], Position]:
    arguments = (str(tenant), *_conditions(wanted), *position.bounds(), size)
    return await connection.fetch(query("audit_news"), *arguments), position


async def _place_and_time(connection: Connection) -> tuple[Place, Instant]:
    row = await connection.fetchrow(query("audit_place"))
    assert row is not None
    return Place(row["cluster"], row["timeline"]), Instant(row["read_time"])


def _conditions(wanted: AuditFilter) -> tuple[object, ...]:
    return (
        wanted.kind or None,
        str(wanted.actor) if wanted.actor else None,
        wanted.subject or None,
        wanted.correlation_id or None,
        wanted.start,
        wanted.end,
    )


def _told(row: rows.Row) -> ToldEvent:
    event = AuditEvent(
        tenant=rows.tenant_ref(row["tenant"]),
        kind=row["kind"],
        actor=rows.principal_ref(row["actor"]),
        subject=row["subject"],
        previous_state=row["previous_state"],
        next_state=row["next_state"],
        time=Instant(row["create_time"]),
        costs=rows.costs(row["costs"]),
        correlation_id=row["correlation_id"],
        trace_id=row["trace_id"],
    )
    return ToldEvent(row["event_id"], event)
