"""What grants are used for and when, for `grant_chains.json`."""

from collections.abc import Iterator
from typing import Any, Final

from capability_authority.offline import timestamp
from capability_authority_conformance.golden.form import Test
from capability_authority_conformance.golden.grant_samples import HOUR_MS, child, root, saying, without
from capability_authority_conformance.golden.grant_tests import accepted, exceeded, refused, use
from capability_authority_conformance.golden.samples import NOW_MS

__all__ = ["uses"]

_SKEW_MS: Final = 30_000
_ALL: Final[dict[str, Any]] = {
    "resource": "docs/a",
    "read_memory_namespace": "team/a",
    "write_memory_namespace": "team/build",
    "tool": "search",
    "provider": "local",
    "model": "small/1",
    "usd_micros": 1_000,
    "tokens": 2_000,
    "latency_ms": 3_000,
    "concurrency": 4,
    "uses": 5,
    "network": True,
    "destructive": True,
}
"""All that the root allows, at once."""
_MORE: Final = (
    ("action", "audience of the grant, action of none", "actions", {"action": "memory.commit-validated"}),
    ("action-unknown", "outside the closed vocabulary", "actions", {"action": "policy.promote"}),
    ("audience", "another audience", "audiences", {"audience": "mail.example"}),
    ("resource", "another resource", "resources", {"resource": "mail/a"}),
    ("resource-prefix", "a prefix is no name", "resources", {"resource": "docs/*"}),
    ("resource-itself", "what the prefix stands below", "resources", {"resource": "docs"}),
    ("resource-dots", "dots", "resources", {"resource": "docs/../mail"}),
    ("resource-case", "another case", "resources", {"resource": "Docs/a"}),
    ("resource-no-name", "no name", "resources", {"resource": ""}),
    ("read", "another memory namespace", "read_memory_namespaces", {"read_memory_namespace": "private/a"}),
    (
        "read-where-written",
        "reading is not writing",
        "read_memory_namespaces",
        {"read_memory_namespace": "teams/build"},
    ),
    ("write-where-read", "writing is not reading", "write_memory_namespaces", {"write_memory_namespace": "team/a"}),
    ("tool", "another tool", "tools", {"tool": "shell"}),
    ("provider", "another provider", "providers", {"provider": "cloud"}),
    ("model", "another model", "models", {"model": "large/1"}),
    ("usd-micros", "more money", "usd_micros", {"usd_micros": 1_001}),
    ("tokens", "more tokens", "tokens", {"tokens": 2_001}),
    ("latency-ms", "more time", "latency_ms", {"latency_ms": 3_001}),
    ("concurrency", "more at once", "concurrency", {"concurrency": 5}),
    ("uses", "more uses", "uses", {"uses": 6}),
)
"""Id, comment, dimension, need."""
_OF_NOTHING: Final[tuple[tuple[str, str, object, dict[str, Any]], ...]] = (
    ("resource", "resources", [], {"resource": "docs/a"}),
    ("write", "write_memory_namespaces", [], {"write_memory_namespace": "team/build"}),
    ("tool", "tools", [], {"tool": "search"}),
    ("money", "usd_micros", 0, {"usd_micros": 1}),
    ("uses", "uses", 0, {}),
)
"""Id, dimension, how it denies all, need."""


def uses() -> list[Test]:
    """All of them."""
    return [*_needs(), *_denied(), *_times()]


def _needs() -> Iterator[Test]:
    parent = root()
    yield accepted("use-nothing", "needs nothing but action and audience", "Use", parent, need=use())
    yield accepted("use-all", "needs all there is", "Use", parent, need=use(**_ALL))
    yield accepted("use-all-below", "of a child that says it again", "Use", parent, child(parent), need=use(**_ALL))
    for name, comment, dimension, need in _MORE:
        yield exceeded(f"use-{name}", comment, "Use", dimension, parent, need=use(**need))
    smaller = child(parent, saying("tokens", 1))
    yield exceeded(
        "use-of-a-child", "what its parent alone allows", "Use", "tokens", parent, smaller, need=use(tokens=2)
    )


def _denied() -> Iterator[Test]:
    for flag in ("network", "destructive"):
        denying, silent = root(saying(flag, value=False)), root(without(flag))
        yield exceeded(f"use-{flag}-denied", "denied", "Use", flag, denying, need=use(**{flag: True}))
        yield exceeded(f"use-{flag}-absent", "not said", "Absent", flag, silent, need=use(**{flag: True}))
    for name, dimension, empty, need in _OF_NOTHING:
        yield exceeded(
            f"use-{name}-empty",
            "nothing of it",
            "EmptyList",
            dimension,
            root(saying(dimension, empty)),
            need=use(**need),
        )
        yield exceeded(
            f"use-{name}-absent", "not said", "Absent", dimension, root(without(dimension)), need=use(**need)
        )


def _times() -> Iterator[Test]:
    parent = root()
    short = child(parent, lambda it: it.expire_time.CopyFrom(timestamp(NOW_MS + 1_000)))
    late = child(parent, lambda it: it.not_before_time.CopyFrom(timestamp(NOW_MS + 60_000)))
    end = NOW_MS + HOUR_MS
    yield accepted("time-last", "the last millisecond", "Time", parent, now_ms=end - 1)
    yield accepted("time-skew", "30 s early", "Time", parent, now_ms=NOW_MS - _SKEW_MS)
    yield refused(
        "time-early",
        "a millisecond beyond the grace",
        "Time",
        "grant_not_yet_valid",
        parent,
        now_ms=NOW_MS - _SKEW_MS - 1,
    )
    yield refused("time-end", "the millisecond in which it ends", "Time", "grant_expired", parent, now_ms=end)
    yield refused("time-after", "a millisecond later", "Time", "grant_expired", parent, now_ms=end + 1)
    yield refused(
        "time-child-ended",
        "the child has ended, the parent has not",
        "Time",
        "grant_expired",
        parent,
        short,
        now_ms=NOW_MS + 1_000,
    )
    yield refused(
        "time-child-early", "the child has not begun", "Time", "grant_not_yet_valid", parent, late, now_ms=NOW_MS
    )
    yield refused("time-parent-ended", "both have ended", "Time", "grant_expired", parent, child(parent), now_ms=end)
