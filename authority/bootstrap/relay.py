"""Wires the relay: the outbox and its notifications on one side, the stream of events on the other."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

import structlog

from authority.bootstrap.repeating import repeating
from authority.bootstrap.system import TimeOrderedIds
from authority.config import Settings
from authority.domain.event import OutboxLag
from authority.domain.references import SECOND
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.postgres.outbox import PostgresOutbox
from authority.postgres.relay_wake import OutboxListener
from authority.redis.connection import connect
from authority.redis.stream_consumer import StreamConsumer
from authority.redis.stream_sink import RedisStreamSink, StreamSettings
from authority.telemetry import metrics
from authority.telemetry.metrics import Reading, read_from
from authority.telemetry.names import DELIVERIES, OUTBOX_AGE, OUTBOX_PARKED, OUTBOX_PENDING
from authority.usecases.relay import Relay, RelaySettings

_log = structlog.get_logger(__name__)

_CONNECTIONS: Final = 2
_PUBLISH_WITHIN_S: Final = 5.0
_PART_OF_LEASE: Final = 1 / 3
"""So long publishing may take at most, so that a relay which lives settles before its lease ends."""
_END_WITHIN_S: Final = 3.0
"""Far longer than a batch takes; what is in hand by then is delivered again once its lease has ended."""
_AGAIN_AFTER_S: Final = 5.0
_LAG_EVERY_S: Final = 5.0
"""How old the lag may be that metrics show."""


@contextlib.asynccontextmanager
async def open_outbox(url: str) -> AsyncIterator[PostgresOutbox]:
    """The outbox over all tenants, by a login that may take on the relay's role. Connects when it is first asked."""
    database = Database(await connect_pool(PoolSettings(url, Power.RELAY, _CONNECTIONS)))
    try:
        yield PostgresOutbox(database)
    finally:
        await database.close()


@contextlib.asynccontextmanager
async def open_relay(settings: Settings) -> AsyncIterator[Relay]:
    """A relay to run, which is woken while the block lasts. Neither server has to be there."""
    url, sink = settings.database_url.get_secret_value(), _sink(settings)
    async with contextlib.AsyncExitStack() as stack:
        outbox = await stack.enter_async_context(open_outbox(url))
        stack.push_async_callback(sink.aclose)
        relay = Relay(outbox, sink, TimeOrderedIds(), _settings(settings))
        listening = asyncio.create_task(OutboxListener(url, relay.wake).run())
        stack.push_async_callback(_cancelled, listening)
        await stack.enter_async_context(_seen(relay))
        yield relay


@dataclass(slots=True)
class _Lag:
    """How far delivery is behind, as it was asked last; None while the database does not say."""

    relay: Relay
    known: OutboxLag | None = None

    async def ask(self) -> None:
        try:
            async with asyncio.timeout(_LAG_EVERY_S):
                self.known = await self.relay.outbox.lag()
        except Exception as error:  # noqa: BLE001 - a number less is no reason to fail
            self.known = None
            _log.debug("the outbox's lag is not known", error=type(error).__name__)

    def pending(self) -> list[Reading]:
        return [(self.known.pending, ())] if self.known else []

    def parked(self) -> list[Reading]:
        return [(self.known.parked, ())] if self.known else []

    def age(self) -> list[Reading]:
        return [((self.known.oldest_age_ms or 0) / SECOND, ())] if self.known else []

    def deliveries(self) -> list[Reading]:
        tally = self.relay.tally
        counts = {"delivered": tally.delivered, "refused": tally.refused, "parked": tally.parked, "lost": tally.lost}
        return [(count, (outcome,)) for outcome, count in counts.items()]


@contextlib.asynccontextmanager
async def _seen(relay: Relay) -> AsyncIterator[None]:
    """Shows the lag and what was done while the block lasts, if anybody listens to metrics."""
    if not metrics.are_heard():
        yield
        return
    lag = _Lag(relay)
    with (
        read_from(OUTBOX_PENDING, lag.pending),
        read_from(OUTBOX_PARKED, lag.parked),
        read_from(OUTBOX_AGE, lag.age),
        read_from(DELIVERIES, lag.deliveries),
    ):
        await lag.ask()
        async with repeating(lag.ask, _LAG_EVERY_S):
            yield


@contextlib.asynccontextmanager
async def relaying(settings: Settings) -> AsyncIterator[None]:
    """Delivers beside whatever the block does, for an authority that has no relay of its own elsewhere.

    At the end the batch in hand is finished, though not for ever.
    """
    async with open_relay(settings) as relay:
        running = asyncio.create_task(_running(relay))
        try:
            yield
        finally:
            relay.stop()
            await asyncio.wait([running], timeout=_END_WITHIN_S)
            await _cancelled(running)


@contextlib.asynccontextmanager
async def open_consumer(redis_url: str, stream: str = StreamSettings().name) -> AsyncIterator[StreamConsumer]:
    """Whoever reads the stream of events from its beginning."""
    client = connect(redis_url)
    try:
        yield StreamConsumer(client, stream)
    finally:
        await client.aclose()


async def _running(relay: Relay) -> None:
    """Beside a service a defect must not end delivery for good: it is told, and what it met is tried again."""
    while not relay.is_stopping:
        try:
            await relay.run()
        except Exception as error:  # noqa: BLE001 - see above
            _log.exception("relay failed", error=type(error).__name__, again_in_s=_AGAIN_AFTER_S)
            await relay.pause(_AGAIN_AFTER_S)


async def _cancelled(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def _sink(settings: Settings) -> RedisStreamSink:
    within_s = min(_PUBLISH_WITHIN_S, settings.relay_lease_s * _PART_OF_LEASE)
    streams = StreamSettings(name=settings.event_stream, length=settings.event_stream_length, within_s=within_s)
    return RedisStreamSink(connect(settings.redis_url.get_secret_value()), streams)


def _settings(settings: Settings) -> RelaySettings:
    return RelaySettings(
        batch=settings.relay_batch,
        lease_ms=round(settings.relay_lease_s * SECOND),
        poll_ms=round(settings.relay_poll_s * SECOND),
        attempts=settings.relay_attempts,
        kept_ms=round(settings.outbox_keep_s * SECOND),
    )
