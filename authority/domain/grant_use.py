"""Judges one use of a grant: who presents it, when, and for what. Every block of the chain must allow it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from authority.domain import limits
from authority.domain.grant import Grant, OpenedGrant
from authority.domain.grant_chain import exceeds
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal, highest
from authority.domain.selectors import select


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantUse:
    """What one use needs. None, 0 and False need nothing of that dimension, which is then not asked of the grant."""

    action: str
    audience: str
    resource: str | None = None
    read_memory_namespace: str | None = None
    write_memory_namespace: str | None = None
    tool: str | None = None
    provider: str | None = None
    model: str | None = None
    usd_micros: int = 0
    tokens: int = 0
    latency_ms: int = 0
    concurrency: int = 0
    uses: int = 1
    """A grant with no uses allows nothing at all."""
    network: bool = False
    destructive: bool = False


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent of a grant so far, by itself and its descendants, and how many of its capabilities live."""

    uses: int = 0
    tokens: int = 0
    usd_micros: int = 0
    live: int = 0


@dataclass(frozen=True, slots=True)
class Needs:
    """What one more use takes of the budgets of every block."""

    uses: int = 1
    tokens: int = 0
    usd_micros: int = 0
    concurrency: int = 0
    """1 for a capability, which lives until it is committed, revoked, or expires."""


_NAMED: Final = (
    ("resources", "resource"),
    ("read_memory_namespaces", "read_memory_namespace"),
    ("write_memory_namespaces", "write_memory_namespace"),
    ("tools", "tool"),
    ("providers", "provider"),
    ("models", "model"),
)
_MEASURED: Final = ("usd_micros", "tokens", "latency_ms", "concurrency", "uses", "network", "destructive")


def judge_use(chain: Sequence[OpenedGrant], use: GrantUse, now: Instant) -> Refusal | None:
    """The highest refusal of any block, root first, or None. That the chain itself holds is judged apart.

    A budget is judged as if nothing of it were spent: what is left of it is for `judge_left`, and for whoever spends.
    Refusals: GRANT_EXCEEDED `dimension`, NOT_YET_VALID, EXPIRED.
    """
    return highest(
        refusal
        for block in chain
        for refusal in (_first_exceeded(block.terms, use), judge_grant_time(block.terms, now))
    )


def judge_left(terms: Grant, spent: Spent, needs: Needs) -> Refusal | None:
    """BUDGET_EXHAUSTED with the first `dimension` of which this block has too little left (case E22)."""
    lacking = (
        dimension
        for dimension, needed, most in (
            ("uses", spent.uses + needs.uses, terms.uses),
            ("tokens", spent.tokens + needs.tokens, terms.tokens),
            ("usd_micros", spent.usd_micros + needs.usd_micros, terms.usd_micros),
            ("concurrency", (spent.live + needs.concurrency) if needs.concurrency else 0, terms.concurrency),
        )
        if needed > (most or 0)
    )
    dimension = next(lacking, None)
    return Refusal(Reason.BUDGET_EXHAUSTED, {"dimension": dimension}) if dimension else None


def judge_holder(presented: Grant, tenant: TenantRef, holder: PrincipalRef, holder_key: bytes | None) -> Refusal | None:
    """HOLDER_MISMATCH unless exactly this principal, by the credential that the grant binds, presents it.

    `holder_key` is the digest that names the credential the caller proved; None for one that binds nothing.
    """
    is_holder = (presented.tenant, presented.holder, presented.holder_key) == (tenant, holder, holder_key)
    return None if is_holder else Refusal(Reason.HOLDER_MISMATCH)


def judge_grant_time(terms: Grant, now: Instant) -> Refusal | None:
    """NOT_YET_VALID beyond the skew, EXPIRED at the boundary itself and after (case E12)."""
    if now < terms.not_before_time - limits.NOT_BEFORE_SKEW_MS:
        return Refusal(Reason.NOT_YET_VALID, {"not_before_time_ms": str(terms.not_before_time)})
    if now >= terms.expire_time:
        return Refusal(Reason.EXPIRED, {"expire_time_ms": str(terms.expire_time)})
    return None


def _first_exceeded(terms: Grant, use: GrantUse) -> Refusal | None:
    return next(map(exceeds, _exceeded(terms, use)), None)


def _exceeded(terms: Grant, use: GrantUse) -> Iterator[str]:
    if use.audience not in (terms.audiences or ()):
        yield "audiences"
    if use.action not in (terms.actions or ()):
        yield "actions"
    for dimension, needed in _NAMED:
        name: str | None = getattr(use, needed)
        if name is not None and not select(getattr(terms, dimension) or (), name):
            yield dimension
    for dimension in _MEASURED:
        if getattr(use, dimension) > (getattr(terms, dimension) or 0):
            yield dimension
