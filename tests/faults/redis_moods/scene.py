"""What is done to Redis, and what a service tells of it."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from grpc_health.v1 import health_pb2  # type: ignore[import-untyped]
from redis import Redis

from capability_authority.client import CapabilityAuthority, Committed, NotFound
from tests.faults.conftest import Site
from tests.installation.leases import has_receipt
from tests.installation.processes import WITHIN_S, ServiceProcess
from tests.installation.team import Ready, Team, refused

A_SMALL_PART_OF_A_DEADLINE_S = 5.0
"""Two waits of 50 ms, and much that a busy machine adds; each call here may take 30 s."""


@contextmanager
def operator(url: str) -> "Iterator[Redis]":
    """A plain client, for what an operator or a neighbour does to the server."""
    with Redis.from_url(url) as redis:
        yield redis


def _stopped(site: Site) -> None:
    site.valkey.kill()


def _hung(site: Site) -> None:
    site.valkey.pause()


def _read_only(site: Site) -> None:
    with operator(site.valkey.url) as redis:
        redis.replicaof("127.0.0.1", "1")


def _full(site: Site) -> None:
    with operator(site.valkey.url) as redis:
        redis.config_set("maxmemory", "1")


def _without_replicas(site: Site) -> None:
    with operator(site.valkey.url) as redis:
        redis.config_set("min-replicas-to-write", "1")


MOODS: dict[str, tuple[Callable[[Site], None], str]] = {
    "b05_stopped": (_stopped, "ConnectionError"),
    "b05_hung": (_hung, "TimeoutError"),
    "b07_read_only": (_read_only, "ReadOnlyError"),
    "b08_full": (_full, "OutOfMemoryError"),
    "without_replicas": (_without_replicas, "NOREPLICAS"),
}
"""In each Redis is of no use, for this reason."""


def mend(site: Site) -> None:
    """Redis is as it was at the start, but for what it knows."""
    site.valkey.resume() if site.valkey.is_running else site.valkey.restart()
    with operator(site.valkey.url) as redis:
        redis.replicaof("NO", "ONE")
        redis.config_set("maxmemory", "256mb")
        redis.config_set("maxmemory-policy", "noeviction")
        redis.config_set("min-replicas-to-write", "0")


async def reads_again(service: CapabilityAuthority) -> None:
    """Returns once reads by Invocation are served; there is no such receipt."""
    await refused(service.get_receipt(commit_idempotency_key="none"), NotFound)


async def tells_of_redis(process: ServiceProcess, *, serving: bool) -> None:
    """Returns once the service's health says so of Redis; of itself it says throughout that it serves."""
    states = health_pb2.HealthCheckResponse
    deadline = time.monotonic() + WITHIN_S
    while await process.health("redis") != (states.SERVING if serving else states.NOT_SERVING):
        assert time.monotonic() < deadline, f"health does not say that Redis is {'' if serving else 'not '}there"
        await asyncio.sleep(0.02)
    assert await process.health() == states.SERVING


async def committed_and_cached(site: Site, team: Team, ready: Ready) -> Committed:
    """The commit, once Redis has its receipt: a Redis that was full is filled again only after a while."""
    first = await team.commit(ready)
    deadline = time.monotonic() + WITHIN_S
    while not has_receipt(site.valkey.url, first):
        assert time.monotonic() < deadline, "Redis does not cache receipts"
        await asyncio.sleep(0.02)
        await team.commit(ready)
    return first
