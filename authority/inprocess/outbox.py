"""The port `Outbox` over the list of events."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from authority.domain.event import OutboxEvent, OutboxLag, WaitingEvent
from authority.domain.references import Instant, TenantRef, after
from authority.inprocess.tables import Delivery, Event, Tables
from authority.usecases.ports import Clock, Refused


@dataclass(frozen=True, slots=True)
class InProcessOutbox:
    """Implements `ports.Outbox`."""

    tables: Tables
    clock: Clock

    async def claim(self, token: str, most: int, lease_ms: int, since: Instant | None = None) -> Sequence[OutboxEvent]:
        """Claims the oldest that are free and first of their record."""
        free = (event for event in self._undelivered() if self._is_free(event))
        claimed = [event for event in free if since is None or _created(event) >= since][:most]
        for event in claimed:
            event.delivery.claim_token = token
            event.delivery.claim_until_time = after(self.clock.now(), lease_ms)
        return [_event(event) for event in claimed]

    async def delivered(self, token: str, events: Sequence[OutboxEvent]) -> set[str]:
        """Marks them, those that the token still holds."""
        held = self._let_go(token, events)
        for event in held:
            event.delivery.delivered_time = self.clock.now()
        return _ids(held)

    async def put_back(self, token: str, events: Sequence[OutboxEvent]) -> set[str]:
        """Frees them."""
        return _ids(self._let_go(token, events))

    async def retry(self, token: str, refusals: Sequence[Refused]) -> set[str]:
        """Frees them after a while."""
        waits = {refused.event.event_id: refused.retry_after_ms for refused in refusals}
        held = self._refuse(token, refusals)
        for event in held:
            event.delivery.retry_time = after(self.clock.now(), waits[event.event_id])
        return _ids(held)

    async def park(self, token: str, refusals: Sequence[Refused]) -> set[str]:
        """Gives them up."""
        held = self._refuse(token, refusals)
        for event in held:
            event.delivery.park_time = self.clock.now()
        return _ids(held)

    async def prune(self, kept_ms: int, most: int) -> int:
        """Forgets what was delivered long ago."""
        now = self.clock.now()
        old = [
            event
            for event in self.tables.events
            if event.delivery.delivered_time is not None and after(event.delivery.delivered_time, kept_ms) < now
        ][:most]
        self.tables.events[:] = [event for event in self.tables.events if event not in old]
        return len(old)

    async def lag(self) -> OutboxLag:
        """Counts them."""
        times = [_created(event) for event in self._undelivered() if event.delivery.park_time is None]
        oldest = max(0, self.clock.now() - min(times)) if times else None
        return OutboxLag(len(times), len(await self.parked(None, len(self.tables.events))), oldest)

    async def pending(self, tenant: TenantRef | None, most: int) -> Sequence[WaitingEvent]:
        """The oldest first."""
        return [_waiting(one) for one in self._of(tenant) if one.delivery.park_time is None][:most]

    async def parked(self, tenant: TenantRef | None, most: int) -> Sequence[WaitingEvent]:
        """The first that was given up first."""
        found = [_waiting(one) for one in self._of(tenant) if one.delivery.park_time is not None]
        return sorted(found, key=lambda event: event.park_time or 0)[:most]

    async def replay(self, event_id: str | None, tenant: TenantRef | None) -> set[str]:
        """Pending again."""
        wanted = [
            event
            for event in self._of(tenant)
            if event.delivery.park_time is not None and event_id in (None, event.event_id)
        ]
        for event in wanted:
            event.delivery = Delivery()
        return _ids(wanted)

    def _undelivered(self) -> list[Event]:
        return sorted(
            (event for event in self.tables.events if event.delivery.delivered_time is None),
            key=_created,
        )

    def _of(self, tenant: TenantRef | None) -> Iterator[Event]:
        return (event for event in self._undelivered() if tenant in (None, event.tenant))

    def _is_free(self, event: Event) -> bool:
        delivery, now = event.delivery, self.clock.now()
        is_waiting = delivery.park_time is not None or (delivery.retry_time or 0) > now
        is_claimed = delivery.claim_token is not None and (delivery.claim_until_time or 0) > now
        return not is_waiting and not is_claimed and not self._is_held_back(event)

    def _is_held_back(self, event: Event) -> bool:
        record = (event.tenant, event.record_id)
        return any(
            (other.tenant, other.record_id) == record and other.sequence < event.sequence
            for other in self._undelivered()
        )

    def _let_go(self, token: str, events: Sequence[OutboxEvent]) -> list[Event]:
        keys = {(event.tenant, event.event_id) for event in events}
        held = [
            event
            for event in self.tables.events
            if (event.tenant, event.event_id) in keys and event.delivery.claim_token == token
        ]
        for event in held:
            event.delivery.claim_token = None
        return held

    def _refuse(self, token: str, refusals: Sequence[Refused]) -> list[Event]:
        whys = {refused.event.event_id: refused.why for refused in refusals}
        held = self._let_go(token, [refused.event for refused in refusals])
        for event in held:
            event.delivery.attempts += 1
            event.delivery.last_error = whys[event.event_id]
        return held


def _created(event: Event) -> Instant:
    return event.create_time or Instant(0)


def _ids(events: Sequence[Event]) -> set[str]:
    return {event.event_id for event in events}


def _event(event: Event) -> OutboxEvent:
    return OutboxEvent(
        tenant=event.tenant,
        event_id=event.event_id,
        type=event.kind,
        subject=event.record_id,
        sequence=event.sequence,
        payload=event.payload,
        traceparent=event.traceparent,
        create_time=_created(event),
        attempts=event.delivery.attempts,
    )


def _waiting(event: Event) -> WaitingEvent:
    return WaitingEvent(
        tenant=event.tenant,
        event_id=event.event_id,
        type=event.kind,
        subject=event.record_id,
        sequence=event.sequence,
        create_time=_created(event),
        attempts=event.delivery.attempts,
        last_error=event.delivery.last_error,
        park_time=event.delivery.park_time,
    )
