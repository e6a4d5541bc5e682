"""Events of the audit log: every change of state tells of itself, or does not happen (semantics §9)."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.proposal import Cost
from authority.domain.references import Instant, PrincipalRef, TenantRef


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """Who changed what from which state to which."""

    tenant: TenantRef
    kind: str
    """What was done, "noun.verb": "capability.issue"."""
    actor: PrincipalRef
    subject: str
    """The id of what was changed."""
    previous_state: str
    """Empty for what was made."""
    next_state: str
    time: Instant
    costs: Sequence[Cost] = ()
    correlation_id: str = ""
    trace_id: str = ""
    """Of the call that made the change: 32 hex digits, or empty when it came without a trace."""


@dataclass(frozen=True, slots=True)
class ToldEvent:
    """An event as it stands in the log. Ids rise in the order of writing, which is not that of becoming visible."""

    event_id: int
    event: AuditEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which events of a tenant are meant: each condition that is set must hold. Times are `[start, end)`."""

    kind: str = ""
    actor: PrincipalRef | None = None
    subject: str = ""
    correlation_id: str = ""
    start: Instant | None = None
    end: Instant | None = None

    def takes(self, event: AuditEvent) -> bool:
        """Whether the event is meant."""
        return (
            self.kind in ("", event.kind)
            and self.actor in (None, event.actor)
            and self.subject in ("", event.subject)
            and self.correlation_id in ("", event.correlation_id)
            and (self.start is None or self.start <= event.time)
            and (self.end is None or event.time < self.end)
        )

    def terms(self) -> tuple[str, ...]:
        """The conditions as text: what a page token or a cursor is bound to."""
        actor = str(self.actor) if self.actor else ""
        times = ("" if time is None else str(time) for time in (self.start, self.end))
        return (self.kind, actor, self.subject, self.correlation_id, *times)
