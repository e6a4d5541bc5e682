"""A vector of `grant_chains.json`."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from capability_authority.v1.statements_pb2 import SignedStatement
from capability_authority_conformance.golden.form import Test
from capability_authority_conformance.golden.samples import AUDIENCE, NOW_MS

__all__ = ["accepted", "exceeded", "refused", "use"]

_NOTHING: Final[Mapping[str, Any]] = {
    "action": "memory.propose",
    "audience": AUDIENCE,
    "resource": None,
    "read_memory_namespace": None,
    "write_memory_namespace": None,
    "tool": None,
    "provider": None,
    "model": None,
    "usd_micros": 0,
    "tokens": 0,
    "latency_ms": 0,
    "concurrency": 0,
    "uses": 1,
    "network": False,
    "destructive": False,
}


def use(**needs: Any) -> dict[str, Any]:  # noqa: ANN401 - of any dimension
    """One use that needs nothing but what is said."""
    return {**_NOTHING, **needs}


def accepted(name: str, comment: str, flag: str, *chain: SignedStatement, **more: Any) -> Test:  # noqa: ANN401
    """A chain that holds."""
    return _test(name, comment, flag, chain, None, None, **more)


def exceeded(name: str, comment: str, flag: str, field: str, *chain: SignedStatement, **more: Any) -> Test:  # noqa: ANN401
    """A chain in which a dimension is exceeded."""
    return _test(name, comment, flag, chain, "grant_exceeded", field, **more)


def refused(
    name: str,
    comment: str,
    flag: str,
    reason: str,
    *chain: SignedStatement,
    field: str | None = None,
    **more: Any,  # noqa: ANN401 - as above
) -> Test:
    """A chain that does not hold for another reason."""
    return _test(name, comment, flag, chain, reason, field, **more)


def _test(
    name: str,
    comment: str,
    flag: str,
    chain: Sequence[SignedStatement],
    reason: str | None,
    field: str | None,
    *,
    now_ms: int = NOW_MS,
    need: Mapping[str, Any] | None = None,
) -> Test:
    inputs = {
        "chain": [statement.SerializeToString(deterministic=True).hex() for statement in chain],
        "now_ms": now_ms,
        "use": need,
        "field": field,
    }
    return Test(name, comment, (flag,), inputs, reason)
