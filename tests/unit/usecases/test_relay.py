"""What the relay does with what outbox and sink answer; both are the in-process ones."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import takewhile

import pytest
from structlog.testing import capture_logs

from authority.domain.event import OutboxEvent, OutboxLag
from authority.domain.references import DAY, MINUTE, Instant, TenantRef
from authority.inprocess.outbox import InProcessOutbox
from authority.inprocess.sink import InProcessSink
from authority.inprocess.tables import Event, Tables
from authority.usecases.ports import DependencyUnavailable, NotTaken, SinkAway, Taken
from authority.usecases.relay import Relay, RelaySettings
from tests.redis_room import eventually
from tests.world.clock import NumberedIds, SetClock

ONE, OTHER = TenantRef("test", "one"), TenantRef("test", "other")
SETTINGS = RelaySettings(batch=5, poll_ms=5, first_pause_ms=1, longest_pause_ms=20, attempts=3)
NEVER_BY_ITSELF = 600_000
WITHIN_S = 20.0


@dataclass
class Scene:
    """An outbox, a sink, and a relay between them."""

    clock: SetClock = field(default_factory=SetClock)
    ids: NumberedIds = field(default_factory=NumberedIds)
    tables: Tables = field(default_factory=Tables)
    sink: InProcessSink = field(default_factory=InProcessSink)

    @property
    def outbox(self) -> InProcessOutbox:
        return InProcessOutbox(self.tables, self.clock)

    def relay(self, settings: RelaySettings = SETTINGS) -> Relay:
        return Relay(self.outbox, self.sink, self.ids, settings)

    def tell(self, record: str, sequence: int = 1, tenant: TenantRef = ONE) -> None:
        """One more event."""
        number = len(self.tables.events)
        now = self.clock.now()
        self.tables.events.append(
            Event(tenant, f"event-{number}", "memory.committed.v1", record, sequence, create_time=now)
        )
        self.clock.advance(1)

    @property
    def heard(self) -> list[tuple[str, int]]:
        return [(entry.subject, entry.sequence) for entry in self.sink.entries]


@pytest.fixture
def scene() -> Scene:
    return Scene()


@asynccontextmanager
async def running(relay: Relay) -> AsyncIterator[None]:
    """The relay runs meanwhile, and has ended in order afterwards."""
    task = asyncio.create_task(relay.run())
    try:
        yield
    finally:
        relay.stop()
        await asyncio.wait_for(task, WITHIN_S)


async def test_everything_is_delivered_in_the_order_of_its_record(scene: Scene) -> None:
    for sequence in (1, 2, 3):
        for record in ("a", "b", "c", "d"):
            scene.tell(record, sequence)
    relay = scene.relay()
    await relay.drain()
    for record in ("a", "b", "c", "d"):
        assert [entry for entry in scene.heard if entry[0] == record] == [(record, 1), (record, 2), (record, 3)]
    assert (relay.tally.delivered, relay.tally.refused) == (12, 0)
    assert await scene.outbox.lag() == OutboxLag(0, 0, None)


async def test_a_refused_event_is_tried_again_ever_later_then_parked_and_holds_back_its_record_alone(
    scene: Scene,
) -> None:
    # given an event that the sink never takes, one after it of the same record, and others
    scene.sink.refused_tenants.add(OTHER)
    scene.tell("poison", 1, OTHER)
    scene.tell("poison", 2, OTHER)
    scene.tell("fine")
    relay = scene.relay()

    # when it is tried, then once in its time, each time after twice as long
    attempts = []
    for wait in (0, 999, 1, 1_999, 1):
        scene.clock.advance(wait)
        await relay.drain()
        attempts.append(relay.tally.refused)
    assert attempts == [1, 1, 2, 2, 3]

    # and after the third time it is parked, and what follows it waits
    assert (relay.tally.parked, scene.heard) == (1, [("fine", 1)])
    [parked] = await scene.outbox.parked(None, 10)
    assert (parked.sequence, parked.attempts) == (1, 3)
    assert (await scene.outbox.lag()).pending == 1
    scene.clock.advance(DAY)
    await relay.drain()
    assert relay.tally.refused == 3

    # when it is replayed and the sink takes it, then both are delivered in order
    scene.sink.refused_tenants.clear()
    await scene.outbox.replay(parked.event_id, None)
    await relay.drain()
    assert scene.heard == [("fine", 1), ("poison", 1), ("poison", 2)]


@dataclass
class Failing:
    """A sink with a defect, which it shows after having taken what comes before."""

    sink: InProcessSink

    async def publish(self, events: Sequence[OutboxEvent]) -> list[Taken | NotTaken]:
        before = list(takewhile(lambda event: event.subject != "poison", events))
        answers = await self.sink.publish(before)
        if len(before) < len(events):
            raise ZeroDivisionError
        return answers


async def test_an_event_that_the_sink_fails_on_is_parked_and_the_others_are_delivered(scene: Scene) -> None:
    for record in ("a", "poison", "b"):
        scene.tell(record)
    relay = Relay(scene.outbox, Failing(scene.sink), scene.ids, SETTINGS)
    for _ in range(SETTINGS.attempts):
        await relay.drain()
        scene.clock.advance(MINUTE)
    assert {record for record, _ in scene.heard} == {"a", "b"}
    assert (relay.tally.delivered, relay.tally.parked) == (2, 1)
    [parked] = await scene.outbox.parked(None, 10)
    assert (parked.subject, parked.last_error) == ("poison", "it cannot be published: ZeroDivisionError")


async def test_a_sink_that_is_away_costs_no_attempt_and_no_lease(scene: Scene) -> None:
    # given a sink that is away
    scene.tell("a")
    scene.sink.is_away = True
    with capture_logs() as logs:
        relay = scene.relay()
        async with running(relay):
            await eventually(lambda: any(entry["event"] == "relay waits" for entry in logs))
            [waiting] = await scene.outbox.pending(None, 10)
            assert (waiting.attempts, waiting.last_error) == (0, "")

            # when it is back, then what waited is delivered, whatever the leases
            scene.sink.is_away = False
            await eventually(lambda: scene.heard == [("a", 1)])
    assert [entry["event"] for entry in logs] == ["relay waits", "relay goes on"]


async def test_a_relay_that_is_woken_delivers_at_once_and_one_that_is_not_by_polling(scene: Scene) -> None:
    # given a relay that looks by itself only after a long time
    relay = scene.relay(RelaySettings(poll_ms=NEVER_BY_ITSELF))
    async with running(relay):
        await asyncio.sleep(0)
        scene.tell("a")
        relay.wake()
        await eventually(lambda: scene.heard == [("a", 1)])
    # and one that nobody wakes
    async with running(scene.relay()):
        scene.tell("b")
        await eventually(lambda: scene.heard == [("a", 1), ("b", 1)])


@dataclass
class Held:
    """A sink that takes a batch and then holds its answer back until it is let go."""

    sink: InProcessSink
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)

    async def publish(self, events: Sequence[OutboxEvent]) -> list[Taken | NotTaken]:
        answers = await self.sink.publish(events)
        self.reached.set()
        await self.let_go.wait()
        return answers


async def test_a_relay_that_is_stopped_finishes_what_it_has_in_hand(scene: Scene) -> None:
    for number in range(10):
        scene.tell(f"record-{number}")
    held = Held(scene.sink)
    relay = Relay(scene.outbox, held, scene.ids, SETTINGS)
    task = asyncio.create_task(relay.run())
    await held.reached.wait()
    relay.stop()
    held.let_go.set()
    await asyncio.wait_for(task, WITHIN_S)
    assert relay.tally.delivered == len(scene.heard) == SETTINGS.batch
    assert (await scene.outbox.lag()).pending == 10 - SETTINGS.batch


async def test_h09_a_relay_slower_than_its_lease_marks_nothing_that_another_delivers(scene: Scene) -> None:
    # given a relay whose sink takes longer to answer than the lease lasts
    scene.tell("a")
    held = Held(scene.sink)
    slow, quick = Relay(scene.outbox, held, scene.ids, SETTINGS), scene.relay()
    turn = asyncio.create_task(slow.turn())
    await held.reached.wait()
    scene.clock.advance(SETTINGS.lease_ms)

    # when another delivers meanwhile, then that one marks, and the slow one knows that it was late
    await quick.drain()
    held.let_go.set()
    await turn
    assert (quick.tally.delivered, slow.tally.delivered, slow.tally.lost) == (1, 0, 1)
    # and the event was delivered twice, under one id
    assert [entry.event_id for entry in scene.sink.entries] == ["event-0", "event-0"]


async def test_h03_a_relay_cancelled_after_publishing_delivers_again_under_the_same_id(scene: Scene) -> None:
    scene.tell("a")
    held = Held(scene.sink)
    turn = asyncio.create_task(Relay(scene.outbox, held, scene.ids, SETTINGS).turn())
    await held.reached.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    scene.clock.advance(SETTINGS.lease_ms)
    await scene.relay().drain()
    assert [entry.event_id for entry in scene.sink.entries] == ["event-0", "event-0"]


@dataclass(frozen=True)
class Away(InProcessOutbox):
    """An outbox that cannot be asked, and counts how often it is."""

    asked: list[str] = field(default_factory=list)

    async def claim(self, token: str, most: int, lease_ms: int, since: Instant | None = None) -> Sequence[OutboxEvent]:
        self.asked.append(token)
        raise DependencyUnavailable("away")


async def test_an_outbox_that_is_away_is_asked_rarely_however_often_the_relay_is_woken(scene: Scene) -> None:
    away = Away(scene.tables, scene.clock)
    relay = Relay(away, scene.sink, scene.ids, RelaySettings(first_pause_ms=NEVER_BY_ITSELF, longest_pause_ms=10**9))
    async with running(relay):
        for _ in range(50):
            relay.wake()
            await asyncio.sleep(0)
    assert len(away.asked) == 1


async def test_what_a_short_look_leaves_out_is_found_by_a_whole_one(scene: Scene) -> None:
    # given a relay that has found an event, and one that was created long before and is seen only now
    scene.clock.advance(MINUTE)
    scene.tell("late")
    [late] = scene.tables.events
    scene.tables.events.clear()
    scene.clock.advance(DAY)
    scene.tell("a")
    relay = scene.relay()
    await relay.turn()
    scene.tables.events.append(late)

    # when it looks shortly, then it passes over it, and finds what is new
    scene.tell("b")
    assert await relay.turn(is_whole=False) == 1
    assert scene.heard == [("a", 1), ("b", 1)]

    # and whoever wants all of it delivered gets it
    await relay.drain()
    assert scene.heard == [("a", 1), ("b", 1), ("late", 1)]


async def test_a_drain_tells_what_keeps_it_from_delivering(scene: Scene) -> None:
    scene.tell("a")
    scene.sink.is_away = True
    with pytest.raises(SinkAway):
        await scene.relay().drain()
    assert (await scene.outbox.lag()).pending == 1


async def test_h11_a_running_relay_forgets_what_was_delivered_long_ago(scene: Scene) -> None:
    scene.tell("a")
    await scene.relay().drain()
    scene.clock.advance(SETTINGS.kept_ms + 1)
    relay = scene.relay()
    async with running(relay):
        await eventually(lambda: relay.tally.pruned == 1)
    assert scene.tables.events == []
