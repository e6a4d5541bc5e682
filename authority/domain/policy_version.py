"""A policy bundle as whoever has to understand a decision reads it (semantics §7)."""

from dataclasses import dataclass

from authority.domain.identity import Caller, PrincipalKind, Right
from authority.domain.references import Instant


@dataclass(frozen=True, slots=True)
class PolicyVersion:
    """A loaded bundle, and where in one tenant it decides now."""

    version: bytes
    """SHA-256 of the bundle's bytes."""
    bundle: str
    load_time: Instant
    active_in: tuple[str, ...]
    """Memory namespaces, by name."""


def may_read_policy(caller: Caller) -> bool:
    """Whether the caller may read what decides on its tenant: who asks policy, who judges proposals, and admins.

    Others are told the outcome and which policies determined it. The text would tell whoever writes hostile content
    what to avoid.
    """
    principal = caller.principal
    return principal.may(Right.ISSUE) or principal.may(Right.DECIDE) or principal.kind is PrincipalKind.ADMIN
