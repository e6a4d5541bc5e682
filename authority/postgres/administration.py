"""The operator's acts, each with its audit event, withdrawals alone under their lock."""

from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg

from authority.domain.identity import PrincipalKind, Right
from authority.domain.record import MemoryNamespace, Mode
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.revocation import AUTHORITY_ITSELF, Revoked, RevokedKind
from authority.domain.statement import IssuerKey
from authority.postgres import audit, rows
from authority.postgres.acting import Act, act_of
from authority.postgres.connections import Database
from authority.postgres.credentials import insert_credential
from authority.postgres.sql import query
from authority.postgres.withdrawing import append_revocation
from authority.usecases.administer import (
    AlreadyThere,
    CommitCounts,
    ListedPolicy,
    ListedPrincipal,
    ListedRefusals,
    LoadedPolicy,
    NewMemoryNamespace,
    NewPrincipal,
    NotThere,
    operator_event,
)


@dataclass(frozen=True, slots=True)
class PostgresAdministration:
    """Implements `administer.Administration`."""

    database: Database

    async def add_principal(self, new: NewPrincipal, now: Instant) -> None:
        """Registers the principal with its first credential."""
        tenant, ref = str(new.tenant), str(new.ref)
        async with act_of(self.database, new.tenant, "principal.add", ref, "active", now) as act:
            rights = sorted(right.value for right in new.rights)
            if not await act.connection.fetchval(query("insert_principal"), tenant, ref, new.kind.value, rights, now):
                raise AlreadyThere(f"principal {ref} is registered in {tenant}")
            if new.credential is not None:
                await insert_credential(act.connection, new.tenant, new.ref, new.credential, now)
                return
            key = rows.key_id_bytes(new.key_id)
            if not await act.connection.fetchval(query("insert_principal_key"), tenant, key, ref, new.public_key, now):
                raise AlreadyThere(f"key {new.key_id} belongs to a principal of {tenant} already")

    async def list_principals(self, tenant: TenantRef) -> Sequence[ListedPrincipal]:
        """Every principal of the tenant."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(query("principal_list"), str(tenant))
        return [_listed(row) for row in found]

    async def revoke_principal(self, tenant: TenantRef, ref: PrincipalRef, now: Instant) -> None:
        """Withdraws the principal."""
        async with act_of(self.database, tenant, "principal.revoke", str(ref), "revoked", now, withdraws=True) as act:
            act.previous = "active"
            if not await act.connection.fetchval(query("revoke_principal"), str(tenant), str(ref)):
                raise NotThere(f"no active principal {ref} in {tenant}")
            await _tell(act, tenant, RevokedKind.PRINCIPAL, str(ref), now)

    async def revoke_principal_key(self, tenant: TenantRef, key_id: str, now: Instant) -> None:
        """Withdraws one key of a principal."""
        async with act_of(self.database, tenant, "principal_key.revoke", key_id, "revoked", now, withdraws=True) as act:
            act.previous = "active"
            place = (str(tenant), rows.key_id_bytes(key_id))
            if not (
                await act.connection.fetchval(query("revoke_principal_key"), *place)
                or await act.connection.fetchval(query("revoke_token_identity"), *place)
            ):
                raise NotThere(f"no active key {key_id} in {tenant}")
            await _tell(act, tenant, RevokedKind.PRINCIPAL_KEY, key_id, now)

    async def add_namespace(self, new: NewMemoryNamespace, now: Instant) -> None:
        """Makes the memory namespace."""
        async with act_of(self.database, new.tenant, "memory_namespace.add", new.name, new.mode.value, now) as act:
            try:
                added = await act.connection.fetchval(
                    query("insert_memory_namespace"),
                    str(new.tenant),
                    new.name,
                    new.mode.value,
                    new.privileged,
                    new.least_profile,
                    new.default_visibility.value,
                    new.policy_version,
                    now,
                )
            except asyncpg.ForeignKeyViolationError as error:
                raise NotThere(f"policy version sha256:{new.policy_version.hex()} is not loaded") from error
            if not added:
                raise AlreadyThere(f"memory namespace {new.name} exists in {new.tenant}")

    async def list_namespaces(self, tenant: TenantRef) -> Sequence[MemoryNamespace]:
        """Every memory namespace of the tenant."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(query("memory_namespace_list"), str(tenant))
        return [rows.memory_namespace(row) for row in found]

    async def set_mode(self, tenant: TenantRef, name: str, mode: Mode, now: Instant) -> None:
        """Sets how unvalidated writes are treated."""
        async with act_of(self.database, tenant, "memory_namespace.mode", name, mode.value, now, withdraws=True) as act:
            act.previous = await act.connection.fetchval(
                query("set_memory_namespace_mode"), str(tenant), name, mode.value
            )
            if not act.previous:
                raise NotThere(f"no memory namespace {name} in {tenant}")

    async def load_policy(self, version: bytes, bundle: str, now: Instant) -> None:
        """Keeps the bundle under its digest."""
        subject = f"sha256:{version.hex()}"
        async with act_of(self.database, AUTHORITY_ITSELF, "policy.load", subject, "loaded", now) as act:
            # Loaded before, nothing changes and there is nothing to tell.
            act.changed = (
                await act.connection.fetchval(query("insert_policy_version"), version, bundle, now) is not None
            )

    async def list_policies(self) -> Sequence[ListedPolicy]:
        """Every loaded bundle."""
        found = await self.database.ask_all(query("policy_version_list"))
        return [ListedPolicy(row["version"], row["bytes"], row["load_time"]) for row in found]

    async def policy(self, version: bytes) -> LoadedPolicy:
        """One loaded bundle."""
        row = await self.database.ask(query("policy_version_by_digest"), version)
        if row is None:
            raise NotThere(f"policy version sha256:{version.hex()} is not loaded")
        return LoadedPolicy(ListedPolicy(row["version"], row["bytes"], row["load_time"]), row["bundle"])

    async def activate_policy(self, tenant: TenantRef, name: str, version: bytes, now: Instant) -> None:
        """Puts the memory namespace under the bundle."""
        subject = f"sha256:{version.hex()}"
        async with act_of(self.database, tenant, "policy.activate", name, subject, now, withdraws=True) as act:
            try:
                before = await act.connection.fetchval(query("set_memory_namespace_policy"), str(tenant), name, version)
            except asyncpg.ForeignKeyViolationError as error:
                raise NotThere(f"policy version {subject} is not loaded") from error
            if before is None:
                raise NotThere(f"no memory namespace {name} in {tenant}")
            act.previous = f"sha256:{before.hex()}"

    async def count_commits(self, tenant: TenantRef) -> CommitCounts:
        """All four in one statement, which sees one moment."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            row = await connection.fetchrow(query("commit_counts"), str(tenant))
        assert row is not None  # It has no from clause.
        return CommitCounts(**row)

    async def list_refusals(self, tenant: TenantRef, since: Instant) -> Sequence[ListedRefusals]:
        """What was counted since that minute."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(query("refusals_of_tenant"), str(tenant), since)
        return [_refusals(row) for row in found]

    async def add_issuer_key(self, key: IssuerKey, now: Instant) -> Sequence[str]:
        """Adds the key and retires the one whose place it takes."""
        scope = (str(key.tenant) if key.tenant else None, key.memory_namespace)
        thumbprint = rows.key_id_bytes(key.key_id)
        async with act_of(self.database, AUTHORITY_ITSELF, "issuer_key.add", key.key_id, "active", now) as act:
            await act.connection.execute(
                query("insert_issuer_key"), thumbprint, key.public_key, key.purpose.value, *scope, now
            )
            retired = await act.connection.fetch(query("retire_issuer_keys"), key.purpose.value, thumbprint, *scope)
            retired_ids = [rows.key_id_text(row["key_id"]) for row in retired]
            for key_id in retired_ids:
                await audit.append(
                    act.connection,
                    operator_event(AUTHORITY_ITSELF, "issuer_key.retire", key_id, ("active", "retiring"), now),
                )
        return retired_ids

    async def list_issuer_keys(self) -> Sequence[IssuerKey]:
        """Every key of the authority."""
        return [rows.issuer_key(row) for row in await self.database.ask_all(query("issuer_keys"))]

    async def revoke_issuer_key(self, key_id: str, compromised_since: Instant | None, now: Instant) -> None:
        """Withdraws the key in every tenant at once: it waits for every running commit."""
        async with act_of(self.database, AUTHORITY_ITSELF, "issuer_key.revoke", key_id, "revoked", now) as act:
            await act.connection.execute(query("take_global_lock"))
            thumbprint = rows.key_id_bytes(key_id)
            act.previous = await act.connection.fetchval(query("revoke_issuer_key"), thumbprint, compromised_since)
            if not act.previous:
                raise NotThere(f"no issuer key {key_id} that is not revoked already")
            await _tell(act, AUTHORITY_ITSELF, RevokedKind.ISSUER_KEY, key_id, now)


async def _tell(act: Act, tenant: TenantRef, kind: RevokedKind, subject: str, now: Instant) -> None:
    await append_revocation(act.connection, Revoked(tenant=tenant, kind=kind, subject=subject, revoke_time=now))


def _refusals(row: rows.Row) -> ListedRefusals:
    return ListedRefusals(
        principal=rows.principal_ref(row["principal"]) if row["principal"] else None,
        reason=row["reason"],
        count=row["count"],
        first_minute=Instant(row["first_minute"]),
        last_minute=Instant(row["last_minute"]),
    )


def _listed(row: rows.Row) -> ListedPrincipal:
    return ListedPrincipal(
        tenant=rows.tenant_ref(row["tenant"]),
        ref=rows.principal_ref(row["principal"]),
        kind=PrincipalKind(row["kind"]),
        rights=frozenset(Right(right) for right in row["rights"]),
        state=row["state"],
        key_ids=tuple(rows.key_id_text(key) for key in row["key_ids"]),
    )
