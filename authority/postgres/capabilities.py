"""Issued capabilities: one live for each key of a holder, and a key stands for one fingerprint for ever."""

from dataclasses import dataclass

from authority.domain.capability import OpenedCapability
from authority.domain.issuing import IssuingFacts, judge_offer
from authority.domain.plan import Claim
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.postgres import audit, rows
from authority.postgres.audit import AuditEvent
from authority.postgres.connections import Connection, Database, Refused
from authority.postgres.decisions import open_validation, read_decision
from authority.postgres.requests import claim_request
from authority.postgres.sql import query
from authority.usecases.ports import CapabilityFate, IssuedCapability, RequestMark, Statements

_TRIES = 3


@dataclass(frozen=True, slots=True)
class PostgresCapabilities:
    """Implements `ports.Capabilities`."""

    database: Database
    statements: Statements

    async def issuing_facts(
        self,
        tenant: TenantRef,
        proposal_id: str,
        revision: int,
        validation_digest: bytes,
        decision_digest: bytes,
        holder: PrincipalRef,
        holder_key_id: str,
    ) -> IssuingFacts | None:
        """The facts, read in one transaction; None when there is no such revision."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            row = await connection.fetchrow(query("proposal_by_revision"), str(tenant), proposal_id, revision)
            if row is None:
                return None
            proposal = rows.stored_proposal(row)
            # A proposal's memory namespace exists: a foreign key says so, and nothing deletes one.
            namespace = await connection.fetchrow(
                query("memory_namespace_by_name"), str(tenant), proposal.revision.memory_namespace
            )
            assert namespace is not None
            validation = await connection.fetchrow(query("validation_by_digest"), str(tenant), validation_digest)
            decision = await read_decision(connection, self.statements, tenant, decision_digest)
            principal = await connection.fetchrow(query("active_principal"), str(tenant), str(holder))
            key = await connection.fetchrow(
                query("active_key"), str(tenant), rows.key_id_bytes(holder_key_id), str(holder)
            )
        return IssuingFacts(
            proposal=proposal,
            is_newest_revision=proposal.revision.revision == row["current_revision"],
            validation=open_validation(self.statements, validation),
            decision=decision,
            namespace=rows.memory_namespace(namespace),
            holder=rows.principal(principal) if principal else None,
            holder_key_active=key is not None,
        )

    async def issue(
        self, mark: RequestMark, claim: Claim, offer: OpenedCapability | Refusal, now: Instant
    ) -> IssuedCapability | Refusal:
        """Answers with what the commit key already stands for, or else keeps the offer."""

        async def work(connection: Connection) -> IssuedCapability:
            asked_before = await claim_request(connection, mark, claim.idempotency_key, now) is not None
            for _ in range(_TRIES):
                live, was_revoked = await self._standing(connection, claim, now)
                if live:
                    return IssuedCapability(live, replayed=True)
                offered = judge_offer(offer, asked_before=asked_before, was_revoked=was_revoked)
                if isinstance(offered, Refusal):
                    raise Refused(offered)
                if await _insert(connection, claim, offered, now):
                    await audit.append(connection, _issued(mark, offered, now))
                    return IssuedCapability(offered, replayed=False)
                # Another call issued for this key since we looked: the next look, a new snapshot, finds it.
            raise Refused(Refusal(Reason.CONTENTION))

        return await self.database.attempt(mark.tenant, work)

    async def fate_of(self, tenant: TenantRef, capability_id: str) -> CapabilityFate | None:
        """What became of the capability."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            row = await connection.fetchrow(query("capability_fate"), str(tenant), capability_id)
        if row is None:
            return None
        receipt_id = str(row["receipt_id"]) if row["receipt_id"] else None
        return CapabilityFate(rows.principal_ref(row["holder"]), receipt_id, row["state"] == "revoked")

    async def _standing(
        self, connection: Connection, claim: Claim, now: Instant
    ) -> tuple[OpenedCapability | None, bool]:
        """The live capability of the claim, and whether any of its key was revoked.

        Raises Refused when its key stands for something else, or is settled.
        """
        key = (str(claim.tenant), str(claim.holder), claim.idempotency_key)
        issued = await connection.fetch(query("capabilities_of_key"), *key)
        settled = await connection.fetchrow(query("receipt_by_idempotency_key"), *key)
        used_for = {row["fingerprint"] for row in issued} | ({settled["fingerprint"]} if settled else set())
        if used_for - {claim.fingerprint}:
            raise Refused(Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "commit_idempotency_key"}))
        if settled:
            raise Refused(Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": str(settled["receipt_id"])}))
        was_revoked = any(row["state"] == "revoked" for row in issued)
        live = next((row for row in issued if row["state"] == "issued"), None)
        if live is None:
            return None, was_revoked
        if live["expire_time"] <= now:
            await connection.execute(query("expire_capability"), str(claim.tenant), live["capability_id"])
            return None, was_revoked
        opened = self.statements.open_capability(rows.statement(live))
        return None if isinstance(opened, Refusal) else opened, was_revoked


async def _insert(connection: Connection, claim: Claim, offer: OpenedCapability, now: Instant) -> bool:
    terms, statement = offer.terms, offer.statement
    committed = await connection.fetchval(query("receipt_of_proposal"), str(claim.tenant), terms.proposal_id)
    if committed:
        raise Refused(Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": str(committed)}))
    inserted = await connection.fetchval(
        query("insert_capability"),
        str(claim.tenant),
        terms.capability_id,
        offer.digest,
        str(claim.holder),
        claim.idempotency_key,
        claim.fingerprint,
        terms.proposal_id,
        terms.proposal_revision,
        statement.payload_type,
        statement.payload,
        rows.key_id_bytes(statement.key_id),
        statement.signature,
        terms.not_before_time,
        terms.expire_time,
        now,
    )
    return inserted is not None


def _issued(mark: RequestMark, offer: OpenedCapability, now: Instant) -> AuditEvent:
    return AuditEvent(
        tenant=mark.tenant,
        kind="capability.issue",
        actor=mark.principal,
        subject=offer.terms.capability_id,
        previous_state="",
        next_state="issued",
        time=now,
        correlation_id=offer.terms.correlation_id,
    )
