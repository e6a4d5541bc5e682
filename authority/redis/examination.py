"""What `authority doctor` asks of a Redis: facts. What they mean is said elsewhere."""

from dataclasses import dataclass

from redis.asyncio import Redis
from redis.exceptions import RedisError

from authority.redis.connection import clock_difference, connect, is_open_to_all
from authority.redis.health import reason_of
from authority.usecases.ports import Clock


class RedisUnasked(Exception):
    """Redis could not be asked. The message is the class of the fault, or the server's error word, no more."""


@dataclass(frozen=True, slots=True)
class RedisFacts:
    """How a Redis is set up, and how it fares."""

    server: str
    """Name and version, such as `Valkey 9.1.0`."""
    speaks: str
    """The version of Redis whose commands it speaks."""
    role: str
    eviction_policy: str
    clock_difference_ms: int
    """How far its clock is ahead of ours."""
    asks_for_password: bool
    used_bytes: int
    most_bytes: int
    """0 for no bound but the machine's."""
    keeps_over_restart: bool | None
    """Whether what it has survives a restart; None where it does not say."""
    last_write_failed: bool
    """Whether it could not write to disk what it is to keep."""


async def examine(url: str, clock: Clock) -> RedisFacts:
    """Asks the Redis of the URL; each answer is waited for a second at most. Raises RedisUnasked."""
    try:
        client = connect(url)
    except ValueError as error:
        raise RedisUnasked("the URL is not understood") from error
    try:
        facts = {name: str(value) for name, value in (await client.info()).items()}
        return RedisFacts(
            server=_server(facts),
            speaks=facts.get("redis_version", ""),
            role=facts.get("role", ""),
            eviction_policy=facts.get("maxmemory_policy", ""),
            clock_difference_ms=await clock_difference(client, clock),
            asks_for_password=not await is_open_to_all(client),
            used_bytes=int(facts.get("used_memory", "0")),
            most_bytes=int(facts.get("maxmemory", "0")),
            keeps_over_restart=await _keeps(client, facts),
            last_write_failed="err" in (facts.get("aof_last_write_status"), facts.get("rdb_last_bgsave_status")),
        )
    except (RedisError, OSError) as error:
        raise RedisUnasked(reason_of(error)) from error
    finally:
        await client.aclose()


def _server(facts: dict[str, str]) -> str:
    if "valkey_version" in facts:
        return f"Valkey {facts['valkey_version']}"
    return f"{facts.get('server_name', 'redis').capitalize()} {facts.get('redis_version', '')}"


async def _keeps(client: Redis, facts: dict[str, str]) -> bool | None:
    if facts.get("aof_enabled") == "1":
        return True
    try:
        return bool((await client.config_get("save")).get("save"))
    except RedisError:
        return None  # Hosted ones let nobody ask.
