"""Links of principals, kept in PostgreSQL."""

from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg

from authority.domain.principal_link import LinkMethod, PrincipalLink, in_order
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.postgres import rows
from authority.postgres.acting import act_of
from authority.postgres.connections import Database
from authority.postgres.sql import query
from authority.usecases.administer import AlreadyThere, NotThere


@dataclass(frozen=True, slots=True)
class PostgresPrincipalLinks:
    """Implements `link_principals.PrincipalLinks`."""

    database: Database

    async def add(self, link: PrincipalLink) -> None:
        """Links the two."""
        tenant, first, second = link.tenant, link.first, link.second
        subject = f"{first} {second}"
        async with act_of(
            self.database, tenant, "principal_link.add", subject, "verified", link.verify_time, withdraws=True
        ) as act:
            try:
                added = await act.connection.fetchval(
                    query("insert_principal_link"),
                    str(tenant),
                    str(first),
                    str(second),
                    link.method.value,
                    link.evidence,
                    str(link.verified_by),
                    link.verify_time,
                )
            except asyncpg.ForeignKeyViolationError as error:
                raise NotThere(f"{first} and {second} are not both registered in {tenant}") from error
            if not added:
                raise AlreadyThere(f"{first} and {second} of {tenant} are linked already")

    async def revoke(self, tenant: TenantRef, one: PrincipalRef, other: PrincipalRef, now: Instant) -> None:
        """Ends the link of the two."""
        first, second = in_order(one, other)
        subject = f"{first} {second}"
        async with act_of(
            self.database, tenant, "principal_link.revoke", subject, "revoked", now, withdraws=True
        ) as act:
            act.previous = "verified"
            if not await act.connection.fetchval(
                query("revoke_principal_link"), str(tenant), str(first), str(second), now
            ):
                raise NotThere(f"no link of {first} and {second} in {tenant}")

    async def links(self, tenant: TenantRef) -> Sequence[PrincipalLink]:
        """Every link of the tenant."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(query("principal_link_list"), str(tenant))
        return [_link(row) for row in found]

    async def same_person(self, tenant: TenantRef, principal: PrincipalRef) -> frozenset[PrincipalRef]:
        """As the database closes over the links."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(query("same_person"), str(tenant), str(principal))
        return frozenset(rows.principal_ref(row["principal"]) for row in found)


def _link(row: rows.Row) -> PrincipalLink:
    return PrincipalLink(
        tenant=rows.tenant_ref(row["tenant"]),
        first=rows.principal_ref(row["principal"]),
        second=rows.principal_ref(row["other"]),
        method=LinkMethod(row["method"]),
        evidence=row["evidence"],
        verified_by=rows.principal_ref(row["verified_by"]),
        verify_time=row["verify_time"],
        revoke_time=row["revoke_time"],
    )
