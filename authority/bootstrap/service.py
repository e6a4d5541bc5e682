"""Wires the service: PostgreSQL, Redis, keys and policy behind the use cases, the use cases behind gRPC."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import structlog

from authority.bootstrap.connections import pool_sizes
from authority.bootstrap.databases import open_databases
from authority.bootstrap.gatherers import open_gatherers
from authority.bootstrap.hasteners import open_hasteners
from authority.bootstrap.identities import open_authentication
from authority.bootstrap.server_tls import server_credentials
from authority.bootstrap.sight import Gauges, seen
from authority.bootstrap.system import SystemClock, TimeOrderedIds
from authority.bootstrap.upkeep import counting, erasing, refreshing, replace_keys
from authority.bootstrap.use_cases import use_cases_of
from authority.config import Settings
from authority.postgres.generation import GenerationWatch
from authority.postgres.registry import PostgresIssuerKeys, PostgresRegistry
from authority.postgres.room import migrations_missing
from authority.rpc.interceptors.counting import Counting
from authority.rpc.interceptors.observing import Observing
from authority.rpc.observed_use_cases import observed
from authority.rpc.server import REDIS, RpcServer, ServerOptions
from authority.rpc.tallied_use_cases import tallied
from authority.signing.key_folder import KeyFolder
from authority.signing.key_ring import KeyRing
from authority.signing.statements import StatementReader
from authority.telemetry import metrics, spans
from authority.usecases.ports import Clock, Identifiers

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Service:
    """A wired service.

    `port` is where it listens once `run` has begun, `metrics_url` where Prometheus may ask, '' when it may not.
    """

    server: RpcServer
    port: int
    drain_s: float
    metrics_url: str

    async def run(self, stop: asyncio.Event, ready: asyncio.Event | None = None) -> None:
        """Serves until `stop` is set: then no longer says it serves, lets running calls end, and returns."""
        await self.server.start()
        self.server.set_serving(serving=True)
        if ready:
            ready.set()
        await stop.wait()
        await self.server.stop(self.drain_s)


@contextlib.asynccontextmanager
async def open_service(
    settings: Settings,
    clock: Clock | None = None,
    identifiers: Identifiers | None = None,
    *,
    shares_port: bool = False,
) -> AsyncIterator[Service]:
    """A service over the servers that the settings name; everything is closed in order when the block ends.

    `shares_port` lets other processes of the same user listen on the same port.

    Raises OSError or asyncpg.PostgresError when PostgreSQL is away, signing faults when the key folder cannot be
    used, PlaintextRefused for an address that needs TLS, SettingsError when metrics or spans cannot be exported as set.
    Redis may be away: commits go on without it.
    """
    clock, identifiers = clock or SystemClock(), identifiers or TimeOrderedIds()
    async with contextlib.AsyncExitStack() as stack:
        metrics_url = stack.enter_context(seen(settings))
        watch = GenerationWatch()
        databases = await open_databases(stack, settings, watch)
        if missing := await migrations_missing(databases.read):
            _log.warning("database is older than this version", missing=missing, remedy="run `authority migrate`")
        issuer_keys = PostgresIssuerKeys(databases.read)
        folder = KeyFolder(settings.keys)
        ring = KeyRing(folder)
        replace_keys(ring, await issuer_keys.load())
        for fault in ring.signing_faults():
            _log.warning("cannot sign", fault=fault)
        hasteners = await open_hasteners(stack, settings, watch, clock)
        reader = StatementReader(ring)
        gatherers = open_gatherers(stack, settings, databases, reader, clock)
        await stack.enter_async_context(refreshing(ring, issuer_keys, settings.key_refresh_s))
        use_cases = use_cases_of(
            settings,
            databases,
            ring,
            reader,
            await open_authentication(stack, settings, reader, PostgresRegistry(databases.read), clock),
            gatherers,
            hasteners,
            identifiers,
        )
        await stack.enter_async_context(erasing(databases.propose, reader, clock))
        gauges = Gauges(databases.by_power(), pool_sizes(settings), hasteners.link, ring, clock)
        await stack.enter_async_context(gauges.read())
        is_seen = spans.are_heard() or metrics.are_heard()
        tally = await counting(stack, databases, clock)
        counted = tallied(use_cases, tally)
        server = RpcServer(
            observed(counted) if is_seen else counted,
            settings.audience,
            ServerOptions(
                deadline_cap=settings.deadline_cap_s,
                stream_life=settings.stream_life_s,
                streams=settings.streams,
                streams_per_principal=settings.streams_per_principal,
                reflection=settings.reflection,
                connection_age=settings.connection_age_s,
                reuse_port=shares_port,
            ),
            outer_interceptors=(*((Observing(),) if is_seen else ()), Counting(tally)),
        )
        stack.push_async_callback(server.stop, 0)
        hasteners.link.watch(lambda health: server.set_dependency(REDIS, serving=health.available))
        port = server.bind(settings.listen, server_credentials(settings))
        yield Service(server, port, settings.drain_s, metrics_url)
