"""The port `Sink` on a list."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from authority.domain.event import OutboxEvent
from authority.domain.references import TenantRef
from authority.usecases.ports import NotTaken, SinkAway, Taken


@dataclass(slots=True)
class InProcessSink:
    """Implements `ports.Sink`; keeps everything, in the order in which it came."""

    entries: list[OutboxEvent] = field(default_factory=list)
    refused_tenants: set[TenantRef] = field(default_factory=set)
    """Whose events it does not take."""
    is_away: bool = False

    async def publish(self, events: Sequence[OutboxEvent]) -> list[Taken | NotTaken]:
        """Takes them. Raises SinkAway while it is away."""
        if self.is_away:
            raise SinkAway("away")
        return [self._take(event) for event in events]

    def _take(self, event: OutboxEvent) -> Taken | NotTaken:
        if event.tenant in self.refused_tenants:
            return NotTaken("it takes no events of this tenant")
        self.entries.append(event)
        return Taken(str(len(self.entries)))
