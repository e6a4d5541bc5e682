"""The client of Redis with every setting on purpose, and what is wrong with the server that it meets."""

from dataclasses import dataclass

from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.maint_notifications import MaintNotificationsConfig

from authority.domain.references import SECOND
from authority.redis.health import reason_of
from authority.usecases.ports import Clock

_CONNECT_S = 1.0
_SOCKET_S = 1.0
"""For whoever uses the client by itself; the link's own waits are shorter."""
_LEAST_VERSION = 7
_CLOCK_BOUND_MS = 5 * SECOND
_MICROSECONDS = 1_000
_KEEPS_EVERYTHING = "noeviction"
_CREDENTIALS = frozenset({"username", "password", "credential_provider"})


def connect(url: str) -> Redis:
    """A client for `redis://`, `rediss://` or `unix://`, which connects when it is first used.

    The client never repeats a command by itself: a repeated `SET NX` whose first reply was lost answers nil for our own
    value (case B02). RESP2, since maintenance notices of RESP3 would let a connection with unread replies pass for a
    clean one (case B01). Raises ValueError for another scheme.
    """
    return Redis.from_url(
        url,
        protocol=2,
        maint_notifications_config=MaintNotificationsConfig(enabled=False),
        retry=Retry(NoBackoff(), 0),
        retry_on_error=[],
        socket_connect_timeout=_CONNECT_S,
        socket_timeout=_SOCKET_S,
        driver_info=None,
    )


@dataclass(frozen=True, slots=True)
class ServerReport:
    """What the start found out of Redis. `warnings` are sentences for the operator, without addresses or secrets."""

    version: str | None
    """The Redis version whose commands it speaks; None when it could not be asked."""
    eviction_policy: str | None
    clock_difference_ms: int | None
    """How far Redis' clock is ahead of ours. Informs only: every expiry is Redis' own reckoning (case B15)."""
    warnings: tuple[str, ...]


async def inspect_server(client: Redis, clock: Clock) -> ServerReport:
    """Asks Redis for its version, role, eviction policy and clock. Raises nothing: without Redis commits go on."""
    try:
        facts = await client.info()
        difference = await clock_difference(client, clock)
        open_to_all = await is_open_to_all(client)
    except (RedisError, OSError) as fault:
        return ServerReport(None, None, None, (f"Redis could not be asked how it is set up: {reason_of(fault)}.",))
    version = str(facts.get("redis_version", ""))
    policy = str(facts.get("maxmemory_policy", ""))
    warnings = (
        _version_warning(version),
        _eviction_warning(policy),
        _role_warning(str(facts.get("role", ""))),
        _password_warning(open_to_all),
        _clock_warning(difference),
    )
    return ServerReport(version, policy, difference, tuple(warning for warning in warnings if warning))


async def clock_difference(client: Redis, clock: Clock) -> int:
    """How many milliseconds Redis' clock is ahead of ours."""
    before = clock.now()
    seconds, microseconds = await client.time()
    return seconds * SECOND + microseconds // _MICROSECONDS - (before + clock.now()) // 2


async def is_open_to_all(client: Redis) -> bool:
    """Whether a stranger gets an answer. Asked for real: a server without a password accepts any that is sent."""
    pool = client.connection_pool
    settings = {name: value for name, value in pool.connection_kwargs.items() if name not in _CREDENTIALS}
    stranger = Redis.from_pool(ConnectionPool(connection_class=pool.connection_class, **settings))
    try:
        await stranger.ping()
    except RedisError:
        return False
    else:
        return True
    finally:
        await stranger.aclose()


def _version_warning(version: str) -> str | None:
    major = version.partition(".")[0]
    if major.isdecimal() and int(major) >= _LEAST_VERSION:
        return None
    return f"Redis speaks version {version or 'unknown'}; {_LEAST_VERSION} or newer is needed."


def _eviction_warning(policy: str) -> str | None:
    """Case B10: every key of ours has an expiry, so each policy but one may drop them."""
    if policy == _KEEPS_EVERYTHING:
        return None
    return (
        f"maxmemory-policy {policy or 'unknown'} may evict nonces, and a read proof could be used twice: "
        f"set it to {_KEEPS_EVERYTHING}."
    )


def _role_warning(role: str) -> str | None:
    """Case B07."""
    return None if role == "master" else "Redis is a replica: it takes no writes."


def _password_warning(stranger_may_enter: bool) -> str | None:  # noqa: FBT001 - one fact, one sentence
    return "Redis asks for no password." if stranger_may_enter else None


def _clock_warning(difference_ms: int) -> str | None:
    if abs(difference_ms) <= _CLOCK_BOUND_MS:
        return None
    return f"The clocks of Redis and of this process differ by {difference_ms} ms."
