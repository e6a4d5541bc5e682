"""Reads the loaded bundles, behind the tenant wall."""

from dataclasses import dataclass

from authority.domain.policy_version import PolicyVersion
from authority.domain.references import Instant, TenantRef
from authority.postgres.connections import Database
from authority.postgres.sql import query


@dataclass(frozen=True, slots=True)
class PostgresPolicyVersions:
    """Implements `ports.PolicyVersions`."""

    database: Database

    async def of_tenant(self, tenant: TenantRef, version: bytes) -> PolicyVersion | None:
        """The bundle when it decides or decided in the tenant."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            row = await connection.fetchrow(query("policy_version_of_tenant"), str(tenant), version)
        return (
            PolicyVersion(row["version"], row["bundle"], Instant(row["load_time"]), tuple(row["names"]))
            if row
            else None
        )
