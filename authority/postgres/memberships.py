"""Who belongs to which channel and team."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.membership import Scope
from authority.domain.proposal import Visibility
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.postgres import audit, rows
from authority.postgres.connections import Connection, Database
from authority.postgres.sql import query
from authority.usecases.administer import AlreadyThere, NotThere, operator_event
from authority.usecases.administer_memberships import ListedMembership, membership_subject


@dataclass(frozen=True, slots=True)
class PostgresMemberships:
    """Implements `ports.Memberships`."""

    database: Database

    async def is_member(self, tenant: TenantRef, principal: PrincipalRef, scope: Scope) -> bool:
        """Whether the principal, unrevoked, is a live member."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found: bool = await connection.fetchval(query("is_member"), *_key(tenant, principal, scope))
        return found


@dataclass(frozen=True, slots=True)
class PostgresMembershipAdministration:
    """Implements `administer_memberships.MembershipAdministration`."""

    database: Database

    async def add_membership(self, tenant: TenantRef, principal: PrincipalRef, scope: Scope, now: Instant) -> None:
        """Makes the principal a member, and tells it in the same transaction."""
        async with self.database.transaction(tenant) as connection:
            previous = await connection.fetchval(query("add_membership"), *_key(tenant, principal, scope), now)
            if previous is None:
                await _raise_why(connection, tenant, principal, scope)
            await _tell(connection, tenant, "membership.add", (principal, scope), (previous, "active"), now)

    async def remove_membership(self, tenant: TenantRef, principal: PrincipalRef, scope: Scope, now: Instant) -> None:
        """Ends the membership, and tells it in the same transaction."""
        async with self.database.transaction(tenant) as connection:
            if not await connection.fetchval(query("remove_membership"), *_key(tenant, principal, scope), now):
                raise NotThere(f"{principal} is no member of {scope.kind.value} {scope.id} in {tenant}")
            await _tell(connection, tenant, "membership.remove", (principal, scope), ("active", "removed"), now)

    async def list_memberships(self, tenant: TenantRef) -> Sequence[ListedMembership]:
        """Every live membership of the tenant."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(query("membership_list"), str(tenant))
        return [_listed(row) for row in found]


def _key(tenant: TenantRef, principal: PrincipalRef, scope: Scope) -> tuple[str, str, str, str]:
    return str(tenant), str(principal), scope.kind.value, scope.id


async def _raise_why(connection: Connection, tenant: TenantRef, principal: PrincipalRef, scope: Scope) -> None:
    if await connection.fetchval(query("is_active_principal"), str(tenant), str(principal)):
        raise AlreadyThere(f"{principal} of {tenant} is a member of {scope.kind.value} {scope.id} already")
    raise NotThere(f"no active principal {principal} in {tenant}")


async def _tell(
    connection: Connection,
    tenant: TenantRef,
    kind: str,
    of: tuple[PrincipalRef, Scope],
    states: tuple[str, str],
    now: Instant,
) -> None:
    event = operator_event(tenant, kind, membership_subject(*of), states, now)
    await audit.append(connection, event)


def _listed(row: rows.Row) -> ListedMembership:
    scope = Scope(Visibility(row["scope_kind"]), row["scope_id"])
    return ListedMembership(rows.principal_ref(row["principal"]), scope, Instant(row["add_time"]))
