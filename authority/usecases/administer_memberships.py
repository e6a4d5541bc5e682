"""Who belongs to which channel and team: the operator's act on the server's own database (semantics §8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from authority.domain.membership import Scope
from authority.domain.references import Instant, PrincipalRef, TenantRef


@dataclass(frozen=True, slots=True)
class ListedMembership:
    """A live membership."""

    principal: PrincipalRef
    scope: Scope
    add_time: Instant


class MembershipAdministration(Protocol):
    """Each act is one transaction with its audit event, and is seen by every read that begins after it.

    No commit depends on a membership, so that none is made to wait.
    """

    async def add_membership(self, tenant: TenantRef, principal: PrincipalRef, scope: Scope, now: Instant) -> None:
        """Raises NotThere for a principal that is not registered or revoked, AlreadyThere for a live member."""
        ...

    async def remove_membership(self, tenant: TenantRef, principal: PrincipalRef, scope: Scope, now: Instant) -> None:
        """From the next read on the principal sees nothing of the scope. Raises NotThere."""
        ...

    async def list_memberships(self, tenant: TenantRef) -> Sequence[ListedMembership]:
        """Every live membership of the tenant, scope by scope."""
        ...


def membership_subject(principal: PrincipalRef, scope: Scope) -> str:
    """How the audit log names a membership."""
    return f"{scope}:{principal}"
