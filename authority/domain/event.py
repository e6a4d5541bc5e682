"""What the outbox tells of memory records, as CloudEvents (https://cloudevents.io, version 1.0)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from authority.domain.references import Instant, TenantRef


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxEvent:
    """One event of one memory record, written with what it tells of and never changed."""

    tenant: TenantRef
    event_id: str
    """The same however often it is delivered: what is seen again is known by it."""
    type: str
    """`memory.committed.v1` and its like."""
    subject: str
    """The record's id."""
    sequence: int
    """Of the record, counted from 1: who has seen a number ignores what comes with it or a lower one."""
    payload: Mapping[str, object]
    """The CloudEvent but for its trace."""
    traceparent: str
    """The W3C trace context of the call that it comes from; empty when that had none."""
    create_time: Instant
    attempts: int = 0
    """How often a sink refused it so far."""

    def document(self) -> bytes:
        """The CloudEvent in JSON, with the extension attribute `traceparent` where there is a trace."""
        extensions = {"traceparent": self.traceparent} if self.traceparent else {}
        return json.dumps({**self.payload, **extensions}, separators=(",", ":"), ensure_ascii=False).encode()


@dataclass(frozen=True, slots=True)
class OutboxLag:
    """How far delivery is behind: what an operator watches, and what becomes a metric."""

    pending: int
    """Events that are not delivered yet, those held back by a parked one of their record included."""
    parked: int
    """Events that were given up, until an operator replays them."""
    oldest_age_ms: int | None
    """How long the oldest pending one has waited, by the outbox's clock; None when none waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingEvent:
    """An undelivered event as an operator sees it."""

    tenant: TenantRef
    event_id: str
    type: str
    subject: str
    sequence: int
    create_time: Instant
    attempts: int
    last_error: str
    """What the sink said when it refused it last; empty when it did not."""
    park_time: Instant | None
    """When it was given up; None while it is pending."""
