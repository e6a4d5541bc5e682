"""Health of an integration: five dimensions, each known by itself, and what they come to.

An authorization says nothing of reachability, and a healthy service authorizes nobody (ADR-328 section 3).
"""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Availability", "Check", "Health", "IdentityCheck", "availability"]


class Check(StrEnum):
    """What is known of one dimension."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class IdentityCheck(StrEnum):
    """What is known of who it is.

    ADR-328 itself has no `INVALID`; where its words are asked for, that is `UNVERIFIED`.
    """

    VERIFIED = "verified"
    UNVERIFIED = "unverified"
    INVALID = "invalid"
    UNKNOWN = "unknown"


class Availability(StrEnum):
    """What the dimensions come to."""

    BLOCKED = "blocked"
    UNAVAILABLE = "unavailable"
    AVAILABLE = "available"
    DEGRADED = "degraded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The dimensions; none follows from another."""

    identity: IdentityCheck
    configured: Check
    reachable: Check
    healthy: Check
    authorized: Check


def availability(health: Health) -> Availability:
    """What the dimensions come to, for whoever wants one word.

    BLOCKED when it is unauthorized or its identity is invalid; then UNAVAILABLE when it is not configured, reachable or
    healthy; AVAILABLE when all is known to be good; else DEGRADED.
    """
    if health.authorized is Check.NO or health.identity is IdentityCheck.INVALID:
        return Availability.BLOCKED
    service = (health.configured, health.reachable, health.healthy)
    if Check.NO in service:
        return Availability.UNAVAILABLE
    good = (*service, health.authorized) == (Check.YES,) * 4 and health.identity is IdentityCheck.VERIFIED
    return Availability.AVAILABLE if good else Availability.DEGRADED
