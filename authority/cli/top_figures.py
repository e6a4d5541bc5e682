"""What `authority top` shows, reckoned from two looks at the metrics."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from authority.telemetry.names import (
    BUILD,
    CLOCK_DIFFERENCE,
    COMMITS,
    CONNECTIONS,
    CONNECTIONS_MOST,
    DELIVERIES,
    GATHERING_ITEMS,
    GATHERING_WAITING,
    ISSUES,
    OUTBOX_AGE,
    OUTBOX_PARKED,
    OUTBOX_PENDING,
    REDIS_AVAILABLE,
    REDIS_FAILURES,
    REDIS_UNANSWERED,
    REFUSALS,
    RPC_DURATION,
    STREAMS_OPEN,
    Metric,
)
from authority.telemetry.reading import Shown

_COMMIT: Final = "CommitValidated"
_GATHERED: Final = "commit"
_MS: Final = 1_000

COUNTED: Final = ("committed", "replayed", "conflict", "refused", "failed")
"""What becomes of a commit, in the order in which it is shown."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A number since the start of the processes, and how fast it grows."""

    total: int
    per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One look. Of what nothing is known there is None."""

    versions: tuple[str, ...]
    workers: int
    commits: Mapping[str, Counted]
    issued: Counted
    refusals: Mapping[str, Counted]
    """By reason, the most frequent first: of calls and of items of batches and streams."""
    p50_ms: float | None
    """Of single commits since the last look; of all since the start when there was none."""
    p99_ms: float | None
    plans_per_call: float | None
    waiting: int
    streams: int
    redis_used: bool | None
    redis_failures: int
    redis_unanswered: int
    connections_used: int
    connections_most: int
    delivered: Counted | None
    """None when the processes that are looked at relay nothing."""
    pending: int | None
    parked: int | None
    oldest_s: float | None
    clock_ms: int | None


def figures(before: Shown, now: Shown, seconds: float) -> Figures:
    """What there is to say of so many seconds between two looks."""
    looks = _Looks(before, now, seconds)
    reasons = now.by(REFUSALS, "reason")
    redis, difference = now.least(REDIS_AVAILABLE), now.farthest(CLOCK_DIFFERENCE)
    relays = now.has(OUTBOX_PENDING)
    return Figures(
        versions=tuple(now.labels_of(BUILD, "version")),
        workers=len(now.labels_of(BUILD, "worker")) or 1,
        commits={outcome: looks.counted(COMMITS, outcome=outcome) for outcome in COUNTED},
        issued=looks.counted(ISSUES, outcome="issued"),
        refusals={reason: looks.counted(REFUSALS, reason=reason) for reason, _ in _most_first(reasons)},
        p50_ms=looks.quantile_ms(0.50),
        p99_ms=looks.quantile_ms(0.99),
        plans_per_call=looks.plans_per_call(),
        waiting=int(now.total(GATHERING_WAITING, gathering=_GATHERED)),
        streams=int(now.total(STREAMS_OPEN)),
        redis_used=None if redis is None else bool(redis),
        redis_failures=int(now.total(REDIS_FAILURES)),
        redis_unanswered=int(now.total(REDIS_UNANSWERED)),
        connections_used=int(now.total(CONNECTIONS, state="used")),
        connections_most=int(now.total(CONNECTIONS_MOST)),
        delivered=looks.counted(DELIVERIES, outcome="delivered") if relays else None,
        pending=int(now.total(OUTBOX_PENDING)) if relays else None,
        parked=int(now.total(OUTBOX_PARKED)) if relays else None,
        oldest_s=now.total(OUTBOX_AGE) if relays else None,
        clock_ms=None if difference is None else round(difference * _MS),
    )


@dataclass(frozen=True, slots=True)
class _Looks:
    before: Shown
    now: Shown
    seconds: float

    def counted(self, metric: Metric, **labels: str) -> Counted:
        total = self.now.total(metric, **labels)
        return Counted(int(total), _grown(self.before.total(metric, **labels), total) / self.seconds)

    def plans_per_call(self) -> float | None:
        for past in (self.before, None):
            calls, plans = (self._since(past, suffix) for suffix in ("_count", "_sum"))
            if calls > 0:
                return plans / calls
        return None

    def _since(self, past: Shown | None, suffix: str) -> float:
        now = self.now.total(GATHERING_ITEMS, suffix, gathering=_GATHERED)
        return _grown(past.total(GATHERING_ITEMS, suffix, gathering=_GATHERED) if past else 0.0, now)

    def quantile_ms(self, part: float) -> float | None:
        now, past = _buckets(self.now), _buckets(self.before)
        lately = Counter({bound: _grown(past[bound], count) for bound, count in now.items()})
        found = quantile(lately if any(lately.values()) else now, part)
        return None if found is None else found * _MS


def quantile(buckets: Mapping[float, float], part: float) -> float | None:
    """The value below which this part of what was measured lies, as Prometheus reckons it; None for nothing.

    `buckets` are how many were at most so large, by their bound; within a bucket they are taken to be spread evenly.
    """
    *bounds, last = sorted(buckets) or [float("inf")]
    whole = buckets.get(last, 0)
    if not whole:
        return None
    low, below = 0.0, 0.0
    for bound in bounds:
        if buckets[bound] >= whole * part:
            within = buckets[bound] - below
            return low + (bound - low) * ((whole * part - below) / within if within else 0)
        low, below = bound, buckets[bound]
    # Beyond the last bound there is no more to say.
    return low


def _buckets(shown: Shown) -> Counter[float]:
    sums = shown.by(RPC_DURATION, "le", "_bucket", method=_COMMIT)
    return Counter({float(bound): count for bound, count in sums.items()})


def _grown(before: float, now: float) -> float:
    """A counter that is lower than before has begun anew."""
    return now - before if now >= before else now


def _most_first(counts: Counter[str]) -> Iterator[tuple[str, int]]:
    yield from sorted(counts.items(), key=lambda one: (-one[1], one[0]))
