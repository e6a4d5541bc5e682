"""How decisions and capabilities stand now, read from the tables that a commit reads."""

from dataclasses import dataclass

from authority.domain.action_judgement import CapabilityStanding, DecisionStanding, judge_state
from authority.domain.capability import CommitCapability, OpenedCapability
from authority.domain.reasons import Reason
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal, highest
from authority.postgres import rows
from authority.postgres.connections import Connection, Database
from authority.postgres.sql import query
from authority.usecases.ports import Statements


@dataclass(frozen=True, slots=True)
class PostgresStandings:
    """Implements `ports.Standings`."""

    database: Database
    statements: Statements

    async def decision(self, tenant: TenantRef, digest: bytes, now: Instant) -> DecisionStanding | None:
        """The decision, and what stands against a commit by it."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            row = await connection.fetchrow(query("decision_standing"), str(tenant), digest, now)
        if row is None:
            return None
        decision = self.statements.open_decision(rows.statement(row))
        assert not isinstance(decision, Refusal)  # It was made here.
        return DecisionStanding(decision, row["content_digest"], _refusal(row["refusal"]))

    async def capability(self, tenant: TenantRef, capability_id: str, now: Instant) -> CapabilityStanding | None:
        """The capability, and what stands against it."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            row = await connection.fetchrow(query("capability_standing"), str(tenant), capability_id, now)
            if row is None:
                return None
            capability = self.statements.open_capability(rows.statement(row))
            assert isinstance(capability, OpenedCapability)  # It was made here.
            key = await _judge_holder_key(connection, capability.terms)
        receipt_id = str(row["receipt_id"]) if row["receipt_id"] else ""
        refusal = highest(
            (
                Refusal(Reason.KEY_REVOKED) if row["has_revoked_key"] else None,
                key,
                _refusal(row["of_grant"]),
                Refusal(Reason.REVOKED) if row["holder_state"] == "revoked" else None,
                judge_state(row["state"]),
                Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": receipt_id}) if receipt_id else None,
            )
        )
        return CapabilityStanding(capability, row["fingerprint"], receipt_id, refusal)


async def _judge_holder_key(connection: Connection, terms: CommitCapability) -> Refusal | None:
    place = (str(terms.tenant), terms.holder_key, str(terms.holder))
    state = await connection.fetchval(query("holder_key_state"), *place)
    return Refusal(Reason.KEY_REVOKED) if state == "revoked" else None


def _refusal(reason: str | None) -> Refusal | None:
    return Refusal(Reason[reason]) if reason else None
