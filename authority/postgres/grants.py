"""Grants: kept as they were signed, revoked under their tenant's lock (data.md, lock order)."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.grant import OpenedGrant, principals_of
from authority.domain.grant_use import Spent
from authority.domain.reasons import Reason
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.revocation import Revoked, RevokedKind
from authority.postgres import audit, rows
from authority.postgres.connections import Connection, Database, Refused
from authority.postgres.grant_rows import grant_name, grant_row
from authority.postgres.requests import claim_request, find_request
from authority.postgres.spending import Use, spend_grant
from authority.postgres.sql import query
from authority.postgres.withdrawing import append_revocation, lock_tenant
from authority.usecases.ports import (
    ChainFacts,
    KeptGrant,
    MadeGrant,
    RequestMark,
    RevokedGrant,
    Spend,
    Statements,
    keeping_event,
    revoking_event,
)


@dataclass(frozen=True, slots=True)
class PostgresGrants:
    """Implements `ports.Grants`. What is kept is read by the one reading rule again."""

    database: Database
    statements: Statements

    async def chain_of(self, tenant: TenantRef, digest: bytes) -> tuple[KeptGrant, ...]:
        """The kept grant with its ancestors, root first."""
        found = await self.database.ask_all(query("grant_chain"), str(tenant), digest)
        return tuple(self._kept(row) for row in found)

    async def facts_of(self, chain: Sequence[OpenedGrant]) -> ChainFacts:
        """What is stored of the chain, read by one statement."""
        terms, digests = chain[-1].terms, [block.digest for block in chain]
        named = sorted({str(principal) for principal in principals_of(terms)})
        keys = [block.terms.holder_key for block in chain]
        row = await self.database.ask(
            query("grant_chain_facts"), str(terms.tenant), digests, named, keys, str(terms.subject)
        )
        assert row is not None  # It joins nothing but one row.
        refusal = None
        if row["has_revoked_key"]:
            refusal = Refusal(Reason.KEY_REVOKED, {"field": "grant"})
        elif row["has_revoked_block"] or row["active_principals"] < len(named):
            refusal = Refusal(Reason.REVOKED, {"field": "grant"})
        subject = rows.principal(row) if row["principal"] else None
        return ChainFacts(frozenset(digests) - frozenset(row["met"]), refusal, subject)

    async def policy_version(self, tenant: TenantRef, wanted: bytes) -> bytes | None:
        """The wanted one when it is loaded, or the only one of the tenant."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found: bytes | None = await connection.fetchval(query("grant_policy_version"), str(tenant), wanted)
        return found

    async def keep(self, mark: RequestMark, chain: Sequence[OpenedGrant], now: Instant) -> None:
        """Keeps what is not kept yet; kept twice at once, it is told of once."""
        async with self.database.transaction(mark.tenant) as connection:
            await _keep(connection, mark, chain, now)

    async def made_by(self, mark: RequestMark) -> MadeGrant | Refusal | None:
        """What the request id was answered with."""

        async def work(connection: Connection) -> MadeGrant | None:
            found = await find_request(connection, mark)
            return None if found is None else await self._made(connection, mark.tenant, found)

        return await self.database.attempt(mark.tenant, work)

    async def add(self, mark: RequestMark, chain: Sequence[OpenedGrant], now: Instant) -> MadeGrant | Refusal:
        """Keeps the new grant, its request id and its audit event, or answers with what the id stands for."""

        async def work(connection: Connection) -> MadeGrant:
            earlier = await claim_request(connection, mark, chain[-1].name, now)
            if earlier is not None:
                return await self._made(connection, mark.tenant, earlier)
            await _keep(connection, mark, chain, now)
            return MadeGrant(chain[-1], replayed=False)

        return await self.database.attempt(mark.tenant, work)

    async def revoke(self, mark: RequestMark, chain: Sequence[OpenedGrant], now: Instant) -> RevokedGrant | Refusal:
        """Revokes it with its audit event. No commit that ignores it can land once this has answered."""
        tenant, digest = str(mark.tenant), chain[-1].digest

        async def work(connection: Connection) -> RevokedGrant:
            # Waits for the tenant's running commits and keeps others out, before anything is read.
            await lock_tenant(connection, mark.tenant)
            await _keep(connection, mark, chain, now)
            # Counters are locked before request ids are taken, as by whoever issues.
            revoke_time = await connection.fetchval(query("lock_grant"), tenant, digest)
            await claim_request(connection, mark, grant_name(digest), now)
            if revoke_time is not None:
                return RevokedGrant(Instant(revoke_time), replayed=True)
            await connection.execute(query("revoke_grant"), tenant, digest, now)
            told = Revoked(tenant=mark.tenant, kind=RevokedKind.GRANT, subject=grant_name(digest), revoke_time=now)
            await append_revocation(connection, told)
            await audit.append(connection, revoking_event(mark, chain[-1], now))
            return RevokedGrant(now, replayed=False)

        return await self.database.attempt(mark.tenant, work)

    async def spent(self, tenant: TenantRef, digests: Sequence[bytes], now: Instant) -> tuple[Spent, ...]:
        """The sums of the last use of each."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(query("grant_spent"), str(tenant), list(digests), now)
        return tuple(Spent(row["uses"], row["tokens"], row["usd_micros"], row["live"]) for row in found)

    async def spend(self, tenant: TenantRef, action: str, spend: Spend, now: Instant) -> Refusal | None:
        """In a transaction of its own, which is durable before anything is told."""

        async def work(connection: Connection) -> None:
            await spend_grant(connection, tenant, Use(action, spend), now)

        return await self.database.attempt(tenant, work)

    async def _made(self, connection: Connection, tenant: TenantRef, name: str) -> MadeGrant:
        chain = await self._chain_of(connection, tenant, rows.key_id_bytes(name))
        if not chain:
            # The id was used by a call of another RPC whose digest is the same: there is none.
            raise Refused(Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"}))
        return MadeGrant(chain[-1].opened, replayed=True)

    async def _chain_of(self, connection: Connection, tenant: TenantRef, digest: bytes) -> tuple[KeptGrant, ...]:
        found = await connection.fetch(query("grant_chain"), str(tenant), digest)
        return tuple(self._kept(row) for row in found)

    def _kept(self, row: rows.Row) -> KeptGrant:
        opened = self.statements.open_grant(rows.statement(row))
        if isinstance(opened, Refusal):
            raise TypeError("a stored grant cannot be read")
        return KeptGrant(opened, row["revoke_time"])


async def _keep(connection: Connection, mark: RequestMark, chain: Sequence[OpenedGrant], now: Instant) -> None:
    """Root first, so that whoever keeps the same blocks at once waits at the first of them."""
    digests = [block.digest for block in chain]
    for place, block in enumerate(chain, start=1):
        kept = await connection.fetchval(query("insert_grant_record"), *grant_row(block, digests[:place], now))
        if kept is not None:
            await audit.append(connection, keeping_event(mark, block, now))
