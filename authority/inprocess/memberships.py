"""The port `Memberships`, and its operator's side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from authority.domain.membership import Scope
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.inprocess.tables import KeptMembership, Tables
from authority.usecases.administer import AlreadyThere, NotThere, operator_event
from authority.usecases.administer_memberships import ListedMembership, membership_subject


@dataclass(frozen=True, slots=True)
class InProcessMemberships:
    """Implements `ports.Memberships` and `administer_memberships.MembershipAdministration`."""

    tables: Tables

    async def is_member(self, tenant: TenantRef, principal: PrincipalRef, scope: Scope) -> bool:
        """Whether the principal, unrevoked, is a live member."""
        reader = self.tables.reader(tenant, principal)
        return reader is not None and scope in reader.scopes

    async def add_membership(self, tenant: TenantRef, principal: PrincipalRef, scope: Scope, now: Instant) -> None:
        """Makes the principal a member."""
        if self.tables.active_principal(tenant, principal) is None:
            raise NotThere(f"no active principal {principal} in {tenant}")
        before = self.tables.memberships.get((tenant, principal, scope))
        if before and before.remove_time is None:
            raise AlreadyThere(f"{principal} of {tenant} is a member of {scope.kind.value} {scope.id} already")
        self.tables.memberships[tenant, principal, scope] = KeptMembership(now)
        previous = "removed" if before else ""
        self._tell(tenant, "membership.add", membership_subject(principal, scope), (previous, "active"), now)

    async def remove_membership(self, tenant: TenantRef, principal: PrincipalRef, scope: Scope, now: Instant) -> None:
        """Ends the membership."""
        before = self.tables.memberships.get((tenant, principal, scope))
        if before is None or before.remove_time is not None:
            raise NotThere(f"{principal} is no member of {scope.kind.value} {scope.id} in {tenant}")
        self.tables.memberships[tenant, principal, scope] = replace(before, remove_time=now)
        self._tell(tenant, "membership.remove", membership_subject(principal, scope), ("active", "removed"), now)

    async def list_memberships(self, tenant: TenantRef) -> Sequence[ListedMembership]:
        """Every live membership of the tenant."""
        found = [
            ListedMembership(principal, scope, kept.add_time)
            for (of_tenant, principal, scope), kept in self.tables.memberships.items()
            if of_tenant == tenant and kept.remove_time is None
        ]
        return sorted(found, key=lambda it: (it.scope.kind.value, it.scope.id, str(it.principal)))

    def _tell(self, tenant: TenantRef, kind: str, subject: str, states: tuple[str, str], now: Instant) -> None:
        self.tables.tell(operator_event(tenant, kind, subject, states, now))
