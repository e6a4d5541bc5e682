"""The operator's record of which principals are one person: no RPC can change it (semantics §7)."""

from collections.abc import Sequence
from typing import Protocol

from authority.domain.principal_link import PrincipalLink
from authority.domain.references import Instant, PrincipalRef, TenantRef


class PrincipalLinks(Protocol):
    """Links of principals, each change one transaction with its audit event.

    Both changes exclude commits before they read, as withdrawals do: one that is verified makes two approvals one, one
    that is revoked may take a person's approval from a proposal (semantics §5).
    """

    async def add(self, link: PrincipalLink) -> None:
        """Links two principals from now on.

        Raises AlreadyThere when they are linked directly, NotThere when one of them is not registered in the tenant.
        """
        ...

    async def revoke(self, tenant: TenantRef, one: PrincipalRef, other: PrincipalRef, now: Instant) -> None:
        """Irreversible; the pair may be verified anew. Raises NotThere when the two are not linked directly."""
        ...

    async def links(self, tenant: TenantRef) -> Sequence[PrincipalLink]:
        """Every link of the tenant, in the order in which they were verified, revoked ones too."""
        ...

    async def same_person(self, tenant: TenantRef, principal: PrincipalRef) -> frozenset[PrincipalRef]:
        """The principal and everyone that verified, unrevoked links lead to."""
        ...
