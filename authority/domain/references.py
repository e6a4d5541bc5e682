"""Who and where: tenants, principals, and the instants of their doings."""

from dataclasses import dataclass
from typing import NewType

Instant = NewType("Instant", int)
"""Milliseconds since 1970-01-01T00:00:00Z. Ranges are half open: `[not_before_time, expire_time)` (semantics §3)."""

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def after(instant: Instant, milliseconds: int) -> Instant:
    """The instant so many milliseconds later."""
    return Instant(instant + milliseconds)


@dataclass(frozen=True, slots=True)
class TenantRef:
    """A tenant. Equal ids in two namespaces are never the same tenant (semantics §2)."""

    namespace: str
    id: str

    def __str__(self) -> str:
        return f"{self.namespace}|{self.id}"


@dataclass(frozen=True, slots=True)
class PrincipalRef:
    """A principal inside one tenant. Equal ids in two namespaces are never the same principal (semantics §2)."""

    namespace: str
    id: str

    def __str__(self) -> str:
        return f"{self.namespace}|{self.id}"
