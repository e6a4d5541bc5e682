"""Withdrawals that callers make, alone under their tenant's lock (data.md, lock order)."""

from dataclasses import dataclass

from authority.domain.audit import AuditEvent
from authority.domain.reasons import Reason
from authority.domain.references import Instant
from authority.domain.refusal import Refusal
from authority.domain.revocation import Revoked, RevokedKind
from authority.postgres import audit
from authority.postgres.connections import Connection, Database, Refused
from authority.postgres.requests import claim_request
from authority.postgres.rows import Row
from authority.postgres.sql import query
from authority.postgres.withdrawing import append_revocation, lock_tenant
from authority.usecases.ports import RequestMark, RevokedCapability


@dataclass(frozen=True, slots=True)
class PostgresRevocations:
    """Implements `ports.Revocations`."""

    database: Database

    async def revoke_capability(
        self, mark: RequestMark, capability_id: str, now: Instant
    ) -> RevokedCapability | Refusal:
        """Revokes it with its audit event. No commit that ignores it can land once this has answered."""

        async def work(connection: Connection) -> RevokedCapability:
            # Waits for the tenant's running commits and keeps others out, before anything is read.
            await lock_tenant(connection, mark.tenant)
            await claim_request(connection, mark, capability_id, now)
            found = await connection.fetchrow(query("lock_capability"), str(mark.tenant), capability_id)
            if found is None:
                raise Refused(Refusal(Reason.NOT_FOUND))
            if found["receipt_id"] is not None:
                raise Refused(Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": str(found["receipt_id"])}))
            if found["revoke_time"] is not None:
                return RevokedCapability(Instant(found["revoke_time"]), replayed=True)
            await connection.execute(query("revoke_capability"), str(mark.tenant), capability_id, now)
            await append_revocation(connection, _fact(mark, capability_id, now))
            await audit.append(connection, _revoked(mark, capability_id, found, now))
            return RevokedCapability(now, replayed=False)

        return await self.database.attempt(mark.tenant, work)


def _fact(mark: RequestMark, capability_id: str, now: Instant) -> Revoked:
    return Revoked(tenant=mark.tenant, kind=RevokedKind.CAPABILITY, subject=capability_id, revoke_time=now)


def _revoked(mark: RequestMark, capability_id: str, found: Row, now: Instant) -> AuditEvent:
    return mark.event(
        "capability.revoke",
        capability_id,
        (found["state"], "revoked"),
        now,
        correlation_id=found["correlation_id"],
    )
