"""Names for keys, and what envelopes call keys by, in PostgreSQL."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.key_alias import KeyAlias, NamedKey
from authority.domain.references import Instant, TenantRef
from authority.postgres import rows
from authority.postgres.acting import act_of
from authority.postgres.connections import Database
from authority.postgres.sql import query
from authority.usecases.administer import AlreadyThere, NotThere


@dataclass(frozen=True, slots=True)
class PostgresKeyNames:
    """Implements `ports.KeyNames`."""

    database: Database

    async def key_called(self, tenant: TenantRef, name: str) -> NamedKey | None:
        """The key by its thumbprint or a name that stands for it."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            row = await connection.fetchrow(query("key_called"), str(tenant), name)
        return _named(row) if row else None


@dataclass(frozen=True, slots=True)
class PostgresKeyAliases:
    """Implements `key_aliases.KeyAliases`."""

    database: Database

    async def add(self, tenant: TenantRef, alias: str, key_id: str, now: Instant) -> None:
        """Gives the key a name. What becomes of the key meanwhile becomes of the name: both are asked at each use."""
        async with act_of(self.database, tenant, "key_alias.add", alias, key_id, now) as act:
            if await act.connection.fetchrow(query("key_called"), str(tenant), key_id) is None:
                raise NotThere(f"no active key {key_id} that signs in {tenant}")
            key = rows.key_id_bytes(key_id)
            if not await act.connection.fetchval(query("insert_key_alias"), str(tenant), alias, key, now):
                raise AlreadyThere(f"{alias} stands for a key of {tenant} already")

    async def revoke(self, tenant: TenantRef, alias: str, now: Instant) -> str:
        """Takes the name back, alone under the tenant's lock."""
        async with act_of(self.database, tenant, "key_alias.revoke", alias, "revoked", now, withdraws=True) as act:
            key = await act.connection.fetchval(query("revoke_key_alias"), str(tenant), alias, now)
            if key is None:
                raise NotThere(f"{alias} stands for no key of {tenant}")
            act.previous = rows.key_id_text(key)
        return act.previous

    async def aliases(self, tenant: TenantRef) -> Sequence[KeyAlias]:
        """Of every key."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(query("key_alias_list"), str(tenant))
        return [
            KeyAlias(
                tenant=tenant,
                alias=row["alias"],
                key_id=rows.key_id_text(row["key_id"]),
                principal=rows.principal_ref(row["principal"]),
                create_time=Instant(row["create_time"]),
                revoke_time=row["revoke_time"],
                key_is_active=row["key_is_active"],
            )
            for row in found
        ]


def _named(row: rows.Row) -> NamedKey:
    return NamedKey(
        rows.principal(row), rows.key_id_text(row["key_id"]), row["public_key"], Instant(row["create_time"])
    )
