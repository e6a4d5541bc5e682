"""External authorities on policy, kept in PostgreSQL."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.external_authority import ExternalAuthority, ExternalKey
from authority.domain.references import Instant, TenantRef
from authority.postgres import rows
from authority.postgres.acting import act_of
from authority.postgres.connections import Connection, Database
from authority.postgres.sql import query
from authority.usecases.administer import AlreadyThere, NotThere
from authority.usecases.external_authorities import NewExternalAuthority


@dataclass(frozen=True, slots=True)
class PostgresExternalAuthorities:
    """Implements `external_authorities.ExternalAuthorities`."""

    database: Database

    async def put(self, new: NewExternalAuthority, now: Instant) -> None:
        """Adds or changes it, and adds keys."""
        tenant, state = str(new.tenant), _state(new.memory_namespaces, required=new.required)
        async with act_of(
            self.database, new.tenant, "external_authority.put", new.issuer, state, now, withdraws=True
        ) as act:
            known = await act.connection.fetch(query("memory_namespace_names"), tenant, list(new.memory_namespaces))
            if missing := sorted(set(new.memory_namespaces) - {row["name"] for row in known}):
                raise NotThere(f"no memory namespace {missing[0]} in {tenant}")
            before = await act.connection.fetchrow(query("external_authority_by_issuer"), tenant, new.issuer)
            act.previous = _state(before["memory_namespaces"], required=before["required"]) if before else ""
            namespaces = list(new.memory_namespaces)
            await act.connection.execute(
                query("put_external_authority"), tenant, new.issuer, namespaces, new.required, now
            )
            for raw in new.public_keys:
                await _add_key(act.connection, new, raw, now)

    async def revoke_key(self, tenant: TenantRef, issuer: str, key_id: str, now: Instant) -> None:
        """Withdraws the key, alone under the tenant's lock."""
        async with act_of(self.database, tenant, "external_key.revoke", key_id, "revoked", now, withdraws=True) as act:
            act.previous = "active"
            key = rows.key_id_bytes(key_id)
            if not await act.connection.fetchval(query("revoke_external_key"), str(tenant), issuer, key, now):
                raise NotThere(f"no active key {key_id} of {issuer} in {tenant}")

    async def list(self, tenant: TenantRef) -> Sequence[ExternalAuthority]:
        """Every one of the tenant."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            return await read_external_authorities(connection, tenant)


async def read_external_authorities(connection: Connection, tenant: TenantRef) -> tuple[ExternalAuthority, ...]:
    """Every one of the tenant, inside a transaction of the caller."""
    found = await connection.fetch(query("external_authorities"), str(tenant))
    return tuple(_external(tenant, row) for row in found)


async def _add_key(connection: Connection, new: NewExternalAuthority, raw: bytes, now: Instant) -> None:
    tenant, key = str(new.tenant), hashlib.sha256(raw).digest()
    if await connection.fetchval(query("insert_external_key"), tenant, key, new.issuer, raw, now) is None:
        raise AlreadyThere(f"key {rows.key_id_text(key)} belongs to an external authority of {tenant}, or once did")


def _external(tenant: TenantRef, row: rows.Row) -> ExternalAuthority:
    columns = zip(row["key_ids"], row["public_keys"], row["revoke_times"], strict=True)
    return ExternalAuthority(
        tenant=tenant,
        issuer=row["issuer"],
        memory_namespaces=tuple(row["memory_namespaces"]),
        required=row["required"],
        keys=tuple(ExternalKey(rows.key_id_text(key), raw, revoked) for key, raw, revoked in columns),
    )


def _state(memory_namespaces: Sequence[str], *, required: bool) -> str:
    return f"{'required' if required else 'optional'} in {' '.join(memory_namespaces)}"
