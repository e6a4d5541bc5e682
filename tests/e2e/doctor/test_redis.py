"""Whatever may be wrong with Redis, really so, as `authority doctor` tells it."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from redis import Redis

from authority.bootstrap.doctor.cache import look_at_redis
from authority.bootstrap.doctor.finding import State
from authority.bootstrap.system import SystemClock
from authority.embedded import ValkeyServer, start_valkey
from authority.redis.examination import examine
from tests.e2e.doctor.conftest import Doctor

pytestmark = pytest.mark.usefixtures("own_servers")


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyServer]:
    with start_valkey(tmp_path_factory.mktemp("spoiled")) as server:
        yield server


@pytest.fixture
def redis(valkey: ValkeyServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Redis]:
    """A Redis that the service is to use, and that is set back in the end."""
    monkeypatch.setenv("AUTHORITY_REDIS_URL", valkey.url)
    with Redis.from_url(valkey.url) as client:
        before = {name: client.config_get(name)[name] for name in ("maxmemory", "maxmemory-policy", "appendonly")}
        yield client
        for name, value in before.items():
            client.config_set(name, value)


@pytest.mark.parametrize(
    ("name", "value", "check", "state"),
    [
        ("maxmemory-policy", "allkeys-lru", "redis eviction", "problem"),
        ("maxmemory", "0", "redis memory", "warning"),
        ("maxmemory", "80%", "redis memory", "warning"),
        ("maxmemory", "99%", "redis memory", "problem"),
        ("appendonly", "no", "redis disk", "warning"),
    ],
)
def test_a_redis_that_may_forget_or_fill_is_told(
    doctor: Doctor, redis: Redis, name: str, value: str, check: str, state: str
) -> None:
    if value.endswith("%"):
        value = str(int(redis.info("memory")["used_memory"] * 100 / int(value.rstrip("%"))))
    redis.config_set(name, value)

    examined = doctor()

    assert examined.not_ok() == [check]
    assert examined[check]["state"] == state


def test_a_redis_without_a_password_is_told(
    doctor: Doctor, redis: Redis, valkey: ValkeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = str(redis.config_get("requirepass")["requirepass"])
    redis.config_set("requirepass", "")
    try:
        monkeypatch.setenv("AUTHORITY_REDIS_URL", f"redis://127.0.0.1:{valkey.port}")
        assert doctor().not_ok() == ["redis password"]
    finally:
        redis.config_set("requirepass", password)
    # And when it has one that we do not know, no more is told than that
    assert doctor()["redis"]["found"] == "the Redis of AUTHORITY_REDIS_URL cannot be asked (AuthenticationError)"


def test_a_replica_is_told(doctor: Doctor, redis: Redis) -> None:
    redis.replicaof("127.0.0.1", "1")
    try:
        assert "is a replica" in doctor()["redis"]["found"]
    finally:
        redis.replicaof("NO", "ONE")


async def test_what_no_server_here_can_say_is_told(valkey: ValkeyServer) -> None:
    facts = await examine(valkey.url, SystemClock())

    for said, check, state in (
        (replace(facts, speaks="6.2.1"), "redis", State.PROBLEM),
        (replace(facts, last_write_failed=True), "redis disk", State.PROBLEM),
        (replace(facts, keeps_over_restart=None), "redis disk", State.OK),
    ):
        (found,) = (one for one in look_at_redis(said, 1) if one.check == check)
        assert found.state is state
