"""Redis: whether it can be used, and whether it keeps what must not be forgotten."""

from collections.abc import Iterator
from typing import Final

from authority.bootstrap.doctor.finding import Finding, ok, problem, warning
from authority.redis.examination import RedisFacts

_LEAST_VERSION: Final = 7
_CLOCK_BOUND_MS: Final = 5_000
_CACHES_UP_TO: Final = 0.75
"""Of its memory: beyond, receipts are no longer cached."""
_NEARLY_FULL: Final = 0.95
_MB: Final = 1024 * 1024


def look_at_redis(facts: RedisFacts, took_ms: int) -> Iterator[Finding]:
    """All there is to say of one that answers."""
    found = f"{facts.server}, answered in {took_ms} ms"
    major = facts.speaks.partition(".")[0]
    if not major.isdecimal() or int(major) < _LEAST_VERSION:
        yield problem("redis", found, f"use Valkey, or Redis {_LEAST_VERSION} or newer")
    elif facts.role != "master":
        yield problem("redis", f"{found}, is a replica and takes no writes", "name the primary in AUTHORITY_REDIS_URL")
    else:
        yield ok("redis", found)
    yield _policy(facts)
    yield _memory(facts)
    yield _persistence(facts)
    yield (
        ok("redis password", "is asked for")
        if facts.asks_for_password
        else warning("redis password", "none is asked for", "set requirepass, or an ACL for the service")
    )
    yield _clock(facts)


def _policy(facts: RedisFacts) -> Finding:
    if facts.eviction_policy == "noeviction":
        return ok("redis eviction", "nothing is evicted (noeviction)")
    found = f"{facts.eviction_policy or 'unknown'} may evict the proofs of reads: a captured one could be used again"
    return problem("redis eviction", found, "set maxmemory-policy noeviction")


def _memory(facts: RedisFacts) -> Finding:
    used = f"{facts.used_bytes / _MB:,.1f} MB used"
    if not facts.most_bytes:
        return warning("redis memory", f"{used}, without a bound", "set maxmemory to what the machine can spare")
    found = f"{used} of {facts.most_bytes / _MB:,.0f} MB"
    share = facts.used_bytes / facts.most_bytes
    if share >= _NEARLY_FULL:
        return problem("redis memory", f"{found}: reads are about to be refused", "raise maxmemory")
    if share >= _CACHES_UP_TO:
        return warning("redis memory", f"{found}: receipts are no longer cached", "raise maxmemory")
    return ok("redis memory", found)


def _persistence(facts: RedisFacts) -> Finding:
    if facts.last_write_failed:
        return problem("redis disk", "could not be written to", "look for a full disk, or at Redis' own log")
    if facts.keeps_over_restart:
        return ok("redis disk", "what it has survives a restart")
    if facts.keeps_over_restart is None:
        return ok("redis disk", "it does not say whether what it has survives a restart")
    found = "a restart forgets everything: captured proofs of reads work again for 60 s"
    return warning("redis disk", found, "set appendonly yes")


def _clock(facts: RedisFacts) -> Finding:
    off = facts.clock_difference_ms
    found = f"is {abs(off)} ms {'ahead of' if off >= 0 else 'behind'} ours"
    if abs(off) <= _CLOCK_BOUND_MS:
        return ok("redis clock", found)
    return warning("redis clock", found, "synchronise the clocks of both machines (NTP)")
