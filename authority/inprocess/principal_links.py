"""The port `PrincipalLinks`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from authority.domain.principal_link import PrincipalLink, in_order, same_person
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.inprocess.tables import Tables
from authority.usecases.administer import AlreadyThere, NotThere, operator_event


@dataclass(frozen=True, slots=True)
class InProcessPrincipalLinks:
    """Implements `link_principals.PrincipalLinks`."""

    tables: Tables

    async def add(self, link: PrincipalLink) -> None:
        """Links the two."""
        if any((link.tenant, ref) not in self.tables.principals for ref in (link.first, link.second)):
            raise NotThere(f"{link.first} and {link.second} are not both registered in {link.tenant}")
        if self._place(link.tenant, link.first, link.second) is not None:
            raise AlreadyThere(f"{link.first} and {link.second} of {link.tenant} are linked already")
        self.tables.links.append(link)
        self._tell(link, "principal_link.add", ("", "verified"), link.verify_time)

    async def revoke(self, tenant: TenantRef, one: PrincipalRef, other: PrincipalRef, now: Instant) -> None:
        """Ends the link of the two."""
        first, second = in_order(one, other)
        place = self._place(tenant, first, second)
        if place is None:
            raise NotThere(f"no link of {first} and {second} in {tenant}")
        link = self.tables.links[place]
        self.tables.links[place] = replace(link, revoke_time=now)
        self._tell(link, "principal_link.revoke", ("verified", "revoked"), now)

    async def links(self, tenant: TenantRef) -> Sequence[PrincipalLink]:
        """Every link of the tenant."""
        return [link for link in self.tables.links if link.tenant == tenant]

    async def same_person(self, tenant: TenantRef, principal: PrincipalRef) -> frozenset[PrincipalRef]:
        """As the pure rule closes over the links."""
        return same_person(principal, await self.links(tenant))

    def _place(self, tenant: TenantRef, first: PrincipalRef, second: PrincipalRef) -> int | None:
        pair = (tenant, first, second)
        found = (
            index
            for index, link in enumerate(self.tables.links)
            if (link.tenant, link.first, link.second) == pair and link.counts
        )
        return next(found, None)

    def _tell(self, link: PrincipalLink, kind: str, states: tuple[str, str], now: Instant) -> None:
        self.tables.tell(operator_event(link.tenant, kind, f"{link.first} {link.second}", states, now))
