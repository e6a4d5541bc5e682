"""The outbox, as the relay and the operator see it: over all tenants, with the relay's power alone."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.event import OutboxEvent, OutboxLag, WaitingEvent
from authority.domain.references import Instant, TenantRef
from authority.postgres import rows
from authority.postgres.connections import Database
from authority.postgres.sql import query
from authority.usecases.ports import Refused


@dataclass(frozen=True, slots=True)
class PostgresOutbox:
    """Implements `ports.Outbox`. Each method is one statement, which commits by itself.

    What becomes of one whose answer is lost needs no asking: a claim that nobody knows of ends with its lease, and an
    event whose mark is lost is delivered again under its id.
    """

    database: Database

    async def claim(self, token: str, most: int, lease_ms: int, since: Instant | None = None) -> Sequence[OutboxEvent]:
        """Claims by the function that keeps records in order."""
        found = await self.database.ask_all(query("claim_events"), token, _span(lease_ms), most, since)
        return [_event(row) for row in found]

    async def delivered(self, token: str, events: Sequence[OutboxEvent]) -> set[str]:
        """Marks them, those that the token still holds."""
        return _ids(await self.database.ask_all(query("mark_delivered"), token, *_keys(events)))

    async def put_back(self, token: str, events: Sequence[OutboxEvent]) -> set[str]:
        """Frees them."""
        return _ids(await self.database.ask_all(query("put_events_back"), token, *_keys(events)))

    async def retry(self, token: str, refusals: Sequence[Refused]) -> set[str]:
        """Frees them after a while."""
        keys = _keys([refused.event for refused in refusals])
        spans = [_span(refused.retry_after_ms) for refused in refusals]
        return _ids(await self.database.ask_all(query("retry_events"), token, *keys, _whys(refusals), spans))

    async def park(self, token: str, refusals: Sequence[Refused]) -> set[str]:
        """Gives them up."""
        keys = _keys([refused.event for refused in refusals])
        return _ids(await self.database.ask_all(query("park_events"), token, *keys, _whys(refusals)))

    async def prune(self, kept_ms: int, most: int) -> int:
        """Forgets what was delivered long ago. Row security keeps it from anything else."""
        return len(await self.database.ask_all(query("prune_delivered"), _span(kept_ms), most))

    async def lag(self) -> OutboxLag:
        """Counts over the index of what is pending."""
        row = await self.database.ask(query("outbox_lag"))
        assert row is not None
        # Whoever committed may have a clock that is ahead.
        oldest_age_ms = None if row["oldest_age_ms"] is None else max(0, row["oldest_age_ms"])
        return OutboxLag(row["pending"], row["parked"], oldest_age_ms)

    async def pending(self, tenant: TenantRef | None, most: int) -> Sequence[WaitingEvent]:
        """The oldest first."""
        return [_waiting(row) for row in await self.database.ask_all(query("pending_events"), _name(tenant), most)]

    async def parked(self, tenant: TenantRef | None, most: int) -> Sequence[WaitingEvent]:
        """The first that was given up first."""
        return [_waiting(row) for row in await self.database.ask_all(query("parked_events"), _name(tenant), most)]

    async def replay(self, event_id: str | None, tenant: TenantRef | None) -> set[str]:
        """Of two that replay the same event at once, one does."""
        return _ids(await self.database.ask_all(query("replay_events"), event_id, _name(tenant)))


def _span(milliseconds: int) -> dt.timedelta:
    return dt.timedelta(milliseconds=milliseconds)


def _name(tenant: TenantRef | None) -> str | None:
    return None if tenant is None else str(tenant)


def _keys(events: Sequence[OutboxEvent]) -> tuple[list[str], list[str]]:
    return [str(event.tenant) for event in events], [event.event_id for event in events]


def _whys(refusals: Sequence[Refused]) -> list[str]:
    return [refused.why for refused in refusals]


def _ids(found: Sequence[rows.Row]) -> set[str]:
    return {row["event_id"] for row in found}


def _event(row: rows.Row) -> OutboxEvent:
    return OutboxEvent(
        tenant=rows.tenant_ref(row["tenant"]),
        event_id=row["event_id"],
        type=row["type"],
        subject=row["aggregateid"],
        sequence=row["sequence"],
        payload=row["payload"],
        traceparent=row["traceparent"],
        create_time=Instant(row["create_time"]),
        attempts=row["attempts"],
    )


def _waiting(row: rows.Row) -> WaitingEvent:
    return WaitingEvent(
        tenant=rows.tenant_ref(row["tenant"]),
        event_id=row["event_id"],
        type=row["type"],
        subject=row["aggregateid"],
        sequence=row["sequence"],
        create_time=Instant(row["create_time"]),
        attempts=row["attempts"],
        last_error=row["last_error"],
        park_time=None if row["park_time"] is None else Instant(row["park_time"]),
    )
