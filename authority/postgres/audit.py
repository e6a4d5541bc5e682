"""State changes tell of themselves in their own transaction, or do not happen (semantics §9)."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.proposal import Cost
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.postgres.connections import Connection
from authority.postgres.rows import cost_documents
from authority.postgres.sql import query


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """Who changed what from which state to which."""

    tenant: TenantRef
    kind: str
    actor: PrincipalRef
    subject: str
    previous_state: str
    next_state: str
    time: Instant
    costs: Sequence[Cost] = ()
    correlation_id: str = ""
    trace_id: str = ""
    """Of the call that made the change: 32 hex digits, or empty when it came without a trace."""


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
