"""What the start tells of the Redis that it meets: each warning tripped on a real server."""

import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from authority.domain.references import Instant
from authority.embedded import ValkeyServer, start_valkey
from authority.redis.connection import connect, inspect_server
from tests.redis_room import SetClock


class WallClock:
    """The machine's own time, which the server shares."""

    def now(self) -> Instant:
        return Instant(time.time_ns() // 1_000_000)


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[ValkeyServer]:
    with start_valkey(tmp_path / "data") as server:
        yield server


@pytest.fixture
async def client(valkey: ValkeyServer) -> AsyncIterator[Redis]:
    client = connect(valkey.url)
    try:
        yield client
    finally:
        await client.aclose()


async def test_the_embedded_server_is_as_it_should_be(client: Redis) -> None:
    report = await inspect_server(client, WallClock())
    assert report.warnings == ()
    assert report.version is not None
    assert int(report.version.split(".")[0]) >= 7
    assert report.eviction_policy == "noeviction"
    assert report.clock_difference_ms is not None
    assert abs(report.clock_difference_ms) < 1_000


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
async def test_b10_an_evicting_policy_is_warned_of(client: Redis, policy: str) -> None:
    # given a server that may drop what is in use
    await client.config_set("maxmemory-policy", policy)

    # then the start says what that opens, and what to set
    report = await inspect_server(client, WallClock())
    assert report.eviction_policy == policy
    assert report.warnings == (
        f"maxmemory-policy {policy} may evict nonces, and a read proof could be used twice: set it to noeviction.",
    )


async def test_a_server_without_a_password_is_warned_of_whatever_the_url_holds(
    client: Redis, valkey: ValkeyServer
) -> None:
    # given a server that lets anyone in
    await client.config_set("requirepass", "")

    # when it is met with a URL without, and with one that has a password, which such a server accepts with a user name
    for credentials in ("", "default:some@"):
        other = connect(f"redis://{credentials}127.0.0.1:{valkey.port}/0")
        report = await inspect_server(other, WallClock())
        await other.aclose()

        # then the start says so
        assert report.warnings == ("Redis asks for no password.",)


async def test_b07_a_replica_is_warned_of(client: Redis) -> None:
    await client.replicaof("127.0.0.1", "1")
    report = await inspect_server(client, WallClock())
    assert report.warnings == ("Redis is a replica: it takes no writes.",)


async def test_b15_clocks_that_differ_are_told(client: Redis) -> None:
    # given a clock of ours that is an hour behind
    clock = SetClock()
    clock.instant = Instant(WallClock().now() - 3_600_000)

    # then the difference is told with its sign
    report = await inspect_server(client, clock)
    assert report.clock_difference_ms is not None
    assert 3_599_000 < report.clock_difference_ms < 3_610_000
    assert report.warnings == (f"The clocks of Redis and of this process differ by {report.clock_difference_ms} ms.",)


async def test_b05_a_server_that_is_away_is_told_and_hinders_no_start(client: Redis, valkey: ValkeyServer) -> None:
    valkey.kill()
    report = await inspect_server(client, WallClock())
    assert report.version is None
    assert report.warnings == ("Redis could not be asked how it is set up: ConnectionError.",)
