"""What the verbs of the audit log answer with."""

from dataclasses import dataclass
from datetime import UTC, datetime

from capability_authority.client.credentials import Reference
from capability_authority.v1 import audit_service_pb2

__all__ = ["AuditEvent", "AuditNews"]


@dataclass(frozen=True, slots=True, repr=False)
class AuditEvent:
    """One change of state: who changed what from which state to which."""

    message: audit_service_pb2.AuditEvent
    """All of it."""

    def __repr__(self) -> str:
        """One line, as a log would have it."""
        return f"<{self.kind} of {self.subject} by {self.actor} at {self.create_time:%Y-%m-%dT%H:%M:%SZ}>"

    @property
    def event_id(self) -> int:
        """Rises in the order of writing, which is not quite that of becoming visible."""
        return self.message.event_id

    @property
    def kind(self) -> str:
        """For example "memory.commit"."""
        return self.message.kind

    @property
    def actor(self) -> Reference:
        """Who did it; ("operator", "cli") is whoever runs the server."""
        return Reference(self.message.actor.namespace, self.message.actor.id)

    @property
    def subject(self) -> str:
        """The id of what was changed."""
        return self.message.subject

    @property
    def create_time(self) -> datetime:
        """When, in UTC."""
        return self.message.create_time.ToDatetime(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class AuditNews:
    """One message of a watch: events, or none when there was nothing to tell for a while."""

    events: tuple[AuditEvent, ...]
    cursor: str
    """Keep it once these events are dealt with: a watch with it goes on after them."""
    as_of_time: datetime | None
    """Every change that was acknowledged before is told, here or earlier; None while more comes at once."""
