"""Wakes the relay once events were committed. Best effort: the relay polls, and loses nothing with a notification."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import asyncpg
import structlog

from authority.postgres.silence import notice_silence
from authority.postgres.sql import query

if TYPE_CHECKING:
    from authority.postgres.connections import Database

_log = structlog.get_logger(__name__)

OUTBOX_CHANNEL: Final = "authority_outbox"
"""The PostgreSQL channel on which the relay listens. Its notifications say nothing but that there is something."""

_LISTENER: Final = "authority_relay listens"
_CONNECT_WITHIN_S: Final = 5.0
_CLOSE_WITHIN_S: Final = 0.5


class RelayWake:
    """Sends one notification after commits, never inside one: there it costs half of the throughput (data.md).

    One is under way at a time, and one more covers whatever is committed meanwhile. It takes a connection of `database`
    for at most `within_s` seconds.
    """

    def __init__(self, database: "Database", within_s: float = 1.0) -> None:
        self._database = database
        self._within_s = within_s
        self._is_due = False
        self._sending: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Has the relay woken soon. Waits for nothing and raises nothing: the caller has answers to give."""
        self._is_due = True
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())

    async def close(self) -> None:
        """Waits for the notification that is under way, and for the one that is due."""
        if self._sending:
            await asyncio.wait([self._sending])

    async def _send(self) -> None:
        try:
            while self._is_due:
                self._is_due = False
                await self._notify()
        finally:
            self._sending = None

    async def _notify(self) -> None:
        try:
            async with asyncio.timeout(self._within_s):
                await self._database.ask(query("wake_relay"), OUTBOX_CHANNEL)
        except Exception as error:  # noqa: BLE001 - whatever it is, the relay polls
            _log.warning("relay not woken", error=type(error).__name__)


@dataclass(frozen=True, slots=True)
class OutboxListener:
    """Hears what `RelayWake` of any process sends, on a connection of its own.

    Behind a pooler that shares connections between transactions nothing is heard, and the relay polls.
    """

    url: str
    heard: Callable[[], None]
    """Called for each notification, and whenever listening has begun: some may have been missed until then."""
    again_after_s: float = 5.0

    async def run(self) -> None:
        """Listens until it is cancelled; a connection that is lost, or cannot be had, is made anew after a while."""
        while True:
            try:
                async with self._listening() as lost:
                    self.heard()
                    await lost.wait()
            except Exception as error:  # noqa: BLE001 - whatever it is, the relay polls
                _log.debug("not listening to the outbox", error=type(error).__name__)
            await asyncio.sleep(self.again_after_s)

    @contextlib.asynccontextmanager
    async def _listening(self) -> AsyncIterator[asyncio.Event]:
        """While the block lasts notifications are heard; the event is set when the connection is lost."""
        connection = await asyncpg.connect(
            self.url, timeout=_CONNECT_WITHIN_S, server_settings={"application_name": _LISTENER}
        )
        lost = asyncio.Event()
        try:
            notice_silence(connection)
            connection.add_termination_listener(lambda _: lost.set())
            await connection.add_listener(OUTBOX_CHANNEL, lambda *_: self.heard())
            yield lost
        finally:
            with contextlib.suppress(Exception):
                await connection.close(timeout=_CLOSE_WITHIN_S)
