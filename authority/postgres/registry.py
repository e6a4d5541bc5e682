"""The registry of principals, and the authority's own keys."""

from dataclasses import dataclass

from authority.domain.identity import Principal, RegisteredKey
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.statement import IssuerKey
from authority.postgres import rows
from authority.postgres.connections import Database
from authority.postgres.sql import query


@dataclass(frozen=True, slots=True)
class PostgresRegistry:
    """Implements `ports.Registry`: what is revoked is absent from the next call on."""

    database: Database

    async def active_key(self, tenant: TenantRef, principal: PrincipalRef, key_id: str) -> RegisteredKey | None:
        """The key when it, and its principal, are active."""
        row = await self.database.ask(query("active_key"), str(tenant), rows.key_id_bytes(key_id), str(principal))
        return RegisteredKey(rows.principal(row), key_id, row["public_key"]) if row else None

    async def principal(self, tenant: TenantRef, principal: PrincipalRef) -> Principal | None:
        """The principal when it is active."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            row = await connection.fetchrow(query("active_principal"), str(tenant), str(principal))
        return rows.principal(row) if row else None


@dataclass(frozen=True, slots=True)
class PostgresIssuerKeys:
    """The authority's keys, which belong to no tenant."""

    database: Database

    async def load(self) -> tuple[IssuerKey, ...]:
        """Every key, oldest first."""
        return tuple(rows.issuer_key(row) for row in await self.database.ask_all(query("issuer_keys")))

    async def generation(self) -> str:
        """Names this database and its timeline: the prefix of every cache entry made from it."""
        row = await self.database.ask(query("database_generation"))
        assert row is not None
        return str(row["generation"])
