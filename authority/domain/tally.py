"""What is counted of refusals, replays and conflicts (semantics §9)."""

from dataclasses import dataclass
from typing import Final

from authority.domain.references import SECOND, Instant, PrincipalRef, TenantRef

REPLAYED: Final = "REPLAYED"
"""Counted beside the reasons of refusals: a retry that was answered with the first result."""
_MINUTE: Final = 60 * SECOND


@dataclass(frozen=True, slots=True)
class Counted:
    """One count: of a minute, a tenant, a principal and a reason (the name of a `Reason`, or `REPLAYED`)."""

    tenant: TenantRef
    minute: Instant
    principal: PrincipalRef | None
    """None for principals together, once more of them are refused than are told apart."""
    reason: str


def minute_of(now: Instant) -> Instant:
    """The beginning of the minute."""
    return Instant(now - now % _MINUTE)
