"""The relay: takes what commits have told the outbox to whoever listens, at least once, a record's events in order.

What may happen at each wait, and why nothing is lost. Cancelled or killed after the claim: the claim ends with its
lease, and whoever claims the events next delivers them. After the sink took them and before they are marked: they are
delivered again under the same ids (case H03). With the sink's answer lost: likewise. When delivering took longer than
the lease: another may deliver too, and only the token that claimed last marks.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from authority.domain.event import OutboxEvent
from authority.domain.references import DAY, MINUTE, SECOND, Instant, after
from authority.telemetry import spans
from authority.telemetry.names import DELIVERY, EVENT, EVENT_TYPE, PUBLISH, RECORD
from authority.telemetry.spans import OpenSpan
from authority.usecases.ports import (
    Contention,
    DependencyUnavailable,
    Identifiers,
    NotTaken,
    Outbox,
    Refused,
    Sink,
    SinkAway,
    Taken,
)

_log = structlog.get_logger(__name__)

_WHOLE_LOOK_EVERY_S: Final = 5.0
"""Looks in between begin a minute before the oldest event that was found last, and so pass over what was delivered
before. What they leave out is found by the next whole one: a claim that ended, a retry, a commit that took long."""
_BEFORE_MS: Final = MINUTE
_PRUNED_AT_ONCE: Final = 500
_PRUNINGS_IN_A_ROW: Final = 20
"""So many batches at a time at most: events that wait come first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelaySettings:
    """How the relay works. Times are milliseconds."""

    batch: int = 100
    """Events that are claimed and published together."""
    lease_ms: int = 15 * SECOND
    """How long a claim lasts: so long the events of a relay that died wait. Longer than any publishing."""
    poll_ms: int = SECOND
    """How long after finding nothing the outbox is looked into again when nobody has woken the relay."""
    attempts: int = 10
    """How often the sink may refuse an event before it is parked."""
    first_retry_ms: int = SECOND
    """How long a refused event waits; twice as long each time, up to `longest_retry_ms`."""
    longest_retry_ms: int = MINUTE
    first_pause_ms: int = 200
    """How long the relay pauses while sink or outbox is away; twice as long each time, up to `longest_pause_ms`."""
    longest_pause_ms: int = 5 * SECOND
    kept_ms: int = 7 * DAY
    """How long delivered events are kept."""
    prune_every_ms: int = MINUTE


@dataclass(slots=True)
class Tally:
    """What a relay has done since it began."""

    delivered: int = 0
    """Events that the sink took and that were marked."""
    refused: int = 0
    """Attempts that ended with the sink refusing an event, the last one before it was parked included."""
    parked: int = 0
    lost: int = 0
    """Events that another relay had claimed by the time they were to be settled: they may be delivered twice."""
    pruned: int = 0


@dataclass(slots=True)
class Relay:
    """Delivers for as long as it runs. Any number of them share the work of one outbox (case H06)."""

    outbox: Outbox
    sink: Sink
    identifiers: Identifiers
    settings: RelaySettings = RelaySettings()
    tally: Tally = field(default_factory=Tally)
    _called: asyncio.Event = field(default_factory=asyncio.Event)
    _stopping: bool = False
    _troubled: str = ""
    _pause_ms: int = 0
    _since: Instant | None = None

    def wake(self) -> None:
        """Has it look now: there is something. Best effort: it polls as well."""
        self._called.set()

    def stop(self) -> None:
        """Has it finish what it has in hand, and end."""
        self._stopping = True
        self._called.set()

    @property
    def is_stopping(self) -> bool:
        """Whether it was stopped."""
        return self._stopping

    async def pause(self, seconds: float) -> None:
        """Waits so long, or until it is stopped."""
        await self._wait(round(seconds * SECOND))

    async def run(self) -> None:
        """Delivers until it is stopped. Raises nothing that passes: what is away is tried again, ever more rarely."""
        time = asyncio.get_running_loop().time
        whole_look = pruning = time()
        while not self._stopping:
            self._called.clear()
            try:
                is_whole = time() >= whole_look
                found = await self.turn(is_whole=is_whole)
                if is_whole:
                    whole_look = time() + _WHOLE_LOOK_EVERY_S
                if time() >= pruning:
                    await self.prune()
                    pruning = time() + self.settings.prune_every_ms / SECOND
            except (DependencyUnavailable, Contention) as fault:
                self._note(fault)
                await self._wait(self._next_pause_ms())
                continue
            self._recovered()
            if not found:
                await self._wait_or_called(self.settings.poll_ms)

    async def drain(self) -> None:
        """Delivers what can be delivered now, and returns when nothing is left but what is held back or waits.

        Raises DependencyUnavailable and Contention: what is not delivered then is still there.
        """
        while not self._stopping and (await self.turn(is_whole=False) or await self.turn()):
            pass

    async def turn(self, *, is_whole: bool = True) -> int:
        """Claims, publishes and settles one batch; says how many events it claimed.

        Raises SinkAway, DependencyUnavailable and Contention.
        """
        token, since = self.identifiers.new(), None if is_whole else self._since
        events = await self.outbox.claim(token, self.settings.batch, self.settings.lease_ms, since)
        if events:
            self._since = after(min(event.create_time for event in events), -_BEFORE_MS)
            await self._deliver(token, events)
        return len(events)

    async def prune(self) -> None:
        """Forgets what was delivered long ago, in small batches."""
        for _ in range(_PRUNINGS_IN_A_ROW):
            pruned = await self.outbox.prune(self.settings.kept_ms, _PRUNED_AT_ONCE)
            self.tally.pruned += pruned
            if pruned < _PRUNED_AT_ONCE or self._stopping:
                return

    async def _deliver(self, token: str, events: Sequence[OutboxEvent]) -> None:
        try:
            answers = await self._published(events)
        except SinkAway:
            # Should this fail as well, the lease does it.
            with contextlib.suppress(DependencyUnavailable, Contention):
                await self.outbox.put_back(token, events)
            raise
        taken = [event for event, answer in zip(events, answers, strict=True) if isinstance(answer, Taken)]
        refused = [
            Refused(event, answer.why, self._retry_after_ms(event))
            for event, answer in zip(events, answers, strict=True)
            if isinstance(answer, NotTaken)
        ]
        marked = await self.outbox.delivered(token, taken) if taken else set()
        self.tally.delivered += len(marked)
        self.tally.lost += len(taken) - len(marked)
        if len(marked) < len(taken):
            _log.warning("events delivered after their claim had ended", events=len(taken) - len(marked))
        await self._refuse(token, refused)

    async def _published(self, events: Sequence[OutboxEvent]) -> list[Taken | NotTaken]:
        """What became of each. One that the sink fails on is refused by itself, and is no end of all delivery.

        Raises SinkAway.
        """
        try:
            return await self._publish(events)
        except SinkAway:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is about some event
            if len(events) == 1:
                _log.exception("event not published", event_id=events[0].event_id)
                return [NotTaken(f"it cannot be published: {type(error).__name__}")]
        # Each again, alone: what the sink had taken by then comes twice.
        return [answer for event in events for answer in await self._published([event])]

    async def _publish(self, events: Sequence[OutboxEvent]) -> list[Taken | NotTaken]:
        """Gives them to the sink, each told of in the trace of the call that it comes from."""
        with contextlib.ExitStack() as stack:
            told = [stack.enter_context(_told_of(event)) for event in events]
            try:
                with spans.carrying(DELIVERY, told):
                    answers = await self.sink.publish(events)
            except SinkAway:
                for span in told:
                    span.fail(SinkAway.__name__)
                raise
            for span, answer in zip(told, answers, strict=True):
                if isinstance(answer, NotTaken):
                    span.fail(NotTaken.__name__)
        return answers

    async def _refuse(self, token: str, refused: Sequence[Refused]) -> None:
        given_up = [one for one in refused if one.event.attempts + 1 >= self.settings.attempts]
        again = [one for one in refused if one.event.attempts + 1 < self.settings.attempts]
        self.tally.refused += len(refused)
        if again:
            await self.outbox.retry(token, again)
        if given_up:
            parked = await self.outbox.park(token, given_up)
            self.tally.parked += len(parked)
            for one in given_up:
                if one.event.event_id in parked:
                    _log.error("event parked", event_id=one.event.event_id, tenant=str(one.event.tenant), why=one.why)

    def _retry_after_ms(self, event: OutboxEvent) -> int:
        doubled = self.settings.first_retry_ms << min(event.attempts, 32)
        return min(doubled, self.settings.longest_retry_ms)

    def _note(self, fault: Exception) -> None:
        """Tells once that something is away, not each time that it still is."""
        trouble = "sink" if isinstance(fault, SinkAway) else "outbox"
        if trouble != self._troubled:
            _log.warning("relay waits", away=trouble, why=str(fault))
        self._troubled = trouble

    def _recovered(self) -> None:
        if self._troubled:
            _log.info("relay goes on")
        self._troubled, self._pause_ms = "", 0

    def _next_pause_ms(self) -> int:
        doubled = max(self.settings.first_pause_ms, 2 * self._pause_ms)
        self._pause_ms = min(doubled, self.settings.longest_pause_ms)
        return self._pause_ms

    async def _wait_or_called(self, milliseconds: int) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(milliseconds / SECOND):
                await self._called.wait()

    async def _wait(self, milliseconds: int) -> None:
        """Waits whatever wakes it, but for being stopped: commits must not have it ask a dead server without pause."""
        end = asyncio.get_running_loop().time() + milliseconds / SECOND
        while not self._stopping and (left := end - asyncio.get_running_loop().time()) > 0:
            self._called.clear()
            await self._wait_or_called(int(left * SECOND) + 1)


def _told_of(event: OutboxEvent) -> OpenSpan:
    span = spans.continuing(PUBLISH.of(event.type), event.traceparent)
    span.set(EVENT, event.event_id)
    span.set(EVENT_TYPE, event.type)
    span.set(RECORD, event.subject)
    return span
