"""Wires what is seen of a process: who listens to spans and metrics, and from where gauges are read."""

import asyncio
import contextlib
import platform
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Final

import structlog

from authority.bootstrap.repeating import repeating
from authority.config import Settings, SettingsError
from authority.domain.references import SECOND
from authority.domain.statement import KeyPurpose, KeyState
from authority.postgres.connections import Database, Power
from authority.postgres.room import clock_difference_s
from authority.redis.link import RedisLink
from authority.signing.key_ring import KeyRing
from authority.telemetry import metrics
from authority.telemetry.exporting import CannotExport, Export, exporting
from authority.telemetry.metrics import Reading, read_from
from authority.telemetry.names import (
    BUILD,
    CLOCK_DIFFERENCE,
    CONNECTIONS,
    CONNECTIONS_MOST,
    KEY_AGE,
    KEYS,
    REDIS_AVAILABLE,
    REDIS_FAILURES,
    REDIS_UNANSWERED,
)
from authority.usecases.ports import Clock

_log = structlog.get_logger(__name__)

_DISTRIBUTION: Final = "capability-authority"
_ASK_EVERY_S: Final = 15.0
"""How old what is asked of the database for a gauge may be."""
_ASK_WITHIN_S: Final = 2.0


@contextlib.contextmanager
def seen(settings: Settings) -> Iterator[str]:
    """Exports spans and metrics of this process while the block lasts, as the settings say; nothing when they do not.

    Answers with the URL at which Prometheus may ask, '' when there is none. Raises SettingsError.
    """
    export = Export(version=version(_DISTRIBUTION), otlp=settings.otlp_endpoint, listen=settings.metrics_listen)
    with contextlib.ExitStack() as stack:
        try:
            url = stack.enter_context(exporting(export))
        except CannotExport as error:
            raise SettingsError(str(error)) from None
        yield url


@dataclass(slots=True)
class Gauges:
    """What is read when somebody asks for metrics. It waits for nothing: what must be asked for is asked before."""

    databases: Mapping[Power, Database]
    most_connections: Mapping[Power, int]
    link: RedisLink
    ring: KeyRing
    clock: Clock
    _difference_s: list[float] = field(default_factory=list)
    """None before it was asked the first time, and while the database does not say."""

    @contextlib.asynccontextmanager
    async def read(self) -> AsyncIterator[None]:
        """Has them read while the block lasts, if anybody listens."""
        if not metrics.are_heard():
            yield
            return
        sources = {
            BUILD: self._build,
            CONNECTIONS: self._connections,
            CONNECTIONS_MOST: lambda: [(most, (power.value,)) for power, most in self.most_connections.items()],
            REDIS_AVAILABLE: lambda: [(int(self.link.health.available), ())],
            REDIS_FAILURES: lambda: [(self.link.health.failures, ())],
            REDIS_UNANSWERED: lambda: [(self.link.health.unanswered, ())],
            KEYS: self._keys,
            KEY_AGE: self._key_ages,
            CLOCK_DIFFERENCE: lambda: [(difference, ()) for difference in self._difference_s],
        }
        async with contextlib.AsyncExitStack() as stack:
            for metric, source in sources.items():
                stack.enter_context(read_from(metric, source))
            await self._ask()
            await stack.enter_async_context(repeating(self._ask, _ASK_EVERY_S))
            yield

    async def _ask(self) -> None:
        try:
            async with asyncio.timeout(_ASK_WITHIN_S):
                self._difference_s[:] = [await clock_difference_s(self.databases[Power.READ], self.clock)]
        except Exception as error:  # noqa: BLE001 - a number less is no reason to fail
            self._difference_s.clear()
            _log.debug("clock difference not known", error=type(error).__name__)

    def _build(self) -> list[Reading]:
        return [(1, (version(_DISTRIBUTION), platform.python_version()))]

    def _connections(self) -> Iterator[Reading]:
        for power, database in self.databases.items():
            idle = database.pool.get_idle_size()
            yield idle, (power.value, "idle")
            yield database.pool.get_size() - idle, (power.value, "used")

    def _keys(self) -> list[Reading]:
        kinds = [(key.purpose, key.state) for key in self.ring.published()]
        return [
            (kinds.count((purpose, state)), (purpose.value, state.value))
            for purpose in KeyPurpose
            for state in KeyState
            if (purpose, state) in kinds
        ]

    def _key_ages(self) -> list[Reading]:
        now = self.clock.now()
        oldest: dict[KeyPurpose, int] = {}
        for key in self.ring.published():
            if key.state is KeyState.ACTIVE:
                oldest[key.purpose] = min(key.create_time, oldest.get(key.purpose, key.create_time))
        return [((now - created) / SECOND, (purpose.value,)) for purpose, created in oldest.items()]
