"""Mutations that are answered once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from authority.domain.audit import AuditEvent
from authority.domain.proposal import Cost
from authority.domain.references import Instant, PrincipalRef, TenantRef


@dataclass(frozen=True, slots=True)
class RequestMark:
    """A mutation's request id and what it was used for; reused for another request it is IDEMPOTENCY_CONFLICT."""

    tenant: TenantRef
    principal: PrincipalRef
    request_id: str
    digest: bytes
    trace_id: str = field(default="", compare=False)
    """Of the call, for what is told of the change: 32 hex digits, or empty. A retry may have another."""

    def event(
        self,
        kind: str,
        subject: str,
        states: tuple[str, str],
        time: Instant,
        *,
        correlation_id: str = "",
        costs: Sequence[Cost] = (),
    ) -> AuditEvent:
        """What the audit log tells of a change that the request makes: of what, from which state to which."""
        return AuditEvent(
            tenant=self.tenant,
            kind=kind,
            actor=self.principal,
            subject=subject,
            previous_state=states[0],
            next_state=states[1],
            time=time,
            costs=costs,
            correlation_id=correlation_id,
            trace_id=self.trace_id,
        )
