"""What the relay needs of the world: where events wait, and who takes them. Each port has one contract suite."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from authority.domain.event import OutboxEvent, OutboxLag, WaitingEvent
from authority.domain.references import Instant, TenantRef
from authority.usecases.ports.faults import DependencyUnavailable


class SinkAway(DependencyUnavailable):
    """A fault: nobody can be told anything just now. What was sent may have been taken; it may be sent again, later."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The sink has the event, and said where."""

    position: str


@dataclass(frozen=True, slots=True)
class NotTaken:
    """The sink is there and did not take this event; `why` is a sentence without content or secrets."""

    why: str


class Sink(Protocol):
    """Takes events, at least once each."""

    async def publish(self, events: Sequence[OutboxEvent]) -> list[Taken | NotTaken]:
        """What became of each, in order. Taken is only what the sink itself said it took (case H04).

        Bounded in time. Raises SinkAway when any answer is missing.
        """
        ...


@dataclass(frozen=True, slots=True)
class Refused:
    """An event that the sink did not take, and when it is tried again, in milliseconds from now."""

    event: OutboxEvent
    why: str
    retry_after_ms: int


class Outbox(Protocol):
    """Where events wait until they are delivered. All times are by the outbox's own clock.

    Whoever claims has a token of its own for each claim. Every settlement (`delivered`, `put_back`, `retry`, `park`)
    concerns only what is still claimed by that token, and answers with the ids of just these: whoever was slower than
    its lease settles nothing that is another's by now. Raises DependencyUnavailable and Contention.
    """

    async def claim(self, token: str, most: int, lease_ms: int, since: Instant | None = None) -> Sequence[OutboxEvent]:
        """Up to so many pending events, the oldest first, each of another record; nobody else gets them meanwhile.

        `since` leaves out those that were created before: that makes a look cheaper, and is no order to go by.
        An event is left out while an earlier one of its record is pending or parked. A claim that is never settled is
        free again once its lease has ended (case H09).
        """
        ...

    async def delivered(self, token: str, events: Sequence[OutboxEvent]) -> set[str]:
        """Marks what the sink has taken."""
        ...

    async def put_back(self, token: str, events: Sequence[OutboxEvent]) -> set[str]:
        """Frees events of which nothing is known, at once and with nothing noted against them."""
        ...

    async def retry(self, token: str, refusals: Sequence[Refused]) -> set[str]:
        """Counts an attempt and frees the events, each after its time."""
        ...

    async def park(self, token: str, refusals: Sequence[Refused]) -> set[str]:
        """Counts an attempt and gives the events up; those that follow of the same record wait for a replay."""
        ...

    async def prune(self, kept_ms: int, most: int) -> int:
        """Forgets up to so many events that were delivered longer ago, and says how many; never one that was not.

        The number of a record's next event does not depend on what is forgotten.
        """
        ...

    async def lag(self) -> OutboxLag:
        """How far delivery is behind, over all tenants."""
        ...

    async def pending(self, tenant: TenantRef | None, most: int) -> Sequence[WaitingEvent]:
        """The oldest that wait, those under delivery included; of one tenant, or of all."""
        ...

    async def parked(self, tenant: TenantRef | None, most: int) -> Sequence[WaitingEvent]:
        """Those that were given up, the first first; of one tenant, or of all."""
        ...

    async def replay(self, event_id: str | None, tenant: TenantRef | None) -> set[str]:
        """Makes parked events pending again, as if never tried: one, or all; answers with their ids."""
        ...
