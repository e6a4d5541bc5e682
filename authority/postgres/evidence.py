"""Evidence by its digest: put once, resolved by whoever may know of it, decided on once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from authority.domain.evidence import Evidence, EvidenceState, ResolvedEvidence, evidence_event
from authority.domain.identity import Right
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.postgres import audit, rows
from authority.postgres.connections import Connection, Database, Refused
from authority.postgres.requests import claim_request
from authority.postgres.sql import query
from authority.usecases.administer import NotTheirs, NotThere
from authority.usecases.ports import RequestMark


@dataclass(frozen=True, slots=True)
class PostgresEvidence:
    """Implements `ports.EvidenceStore`. `putting` may propose, `reading` may read."""

    putting: Database
    reading: Database

    async def resolve(
        self, tenant: TenantRef, digests: Sequence[bytes], reader: PrincipalRef
    ) -> Mapping[bytes, ResolvedEvidence]:
        """What the reader may know of each digest, in one look."""
        if not digests:
            return {}
        async with self.reading.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(query("resolve_evidence"), str(tenant), str(reader), list(digests))
        return {row["digest"]: _resolved(row) for row in found}

    async def put(self, mark: RequestMark, evidence: Evidence) -> Evidence | Refusal:
        """Keeps it unless something stands under its digest; what stands there decides the answer.

        Of two that put the same at once one waits for the other and finds it. Broken off or killed, either all of it
        happened or nothing did, and the same request again tells.
        """

        async def work(connection: Connection) -> Evidence:
            await claim_request(connection, mark, evidence.digest.hex(), evidence.put_time)
            if await connection.fetchval(query("insert_evidence"), *_row(evidence)):
                await audit.append(connection, evidence_event(evidence, mark.trace_id))
                return evidence
            # A new statement and so a new snapshot: what was in our way is there.
            row = await connection.fetchrow(query("evidence_kept_already"), str(mark.tenant), evidence.digest)
            kept = rows.evidence(row) if row else None
            if kept is None or not kept.says_what(evidence):
                raise Refused(Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "digest"}))
            return kept

        return await self.putting.attempt(mark.tenant, work)

    async def get(self, tenant: TenantRef, digest: bytes, reader: PrincipalRef) -> Evidence | None:
        """The evidence, when the reader may know of it."""
        async with self.reading.transaction(tenant, read_only=True) as connection:
            row = await connection.fetchrow(query("evidence_by_digest"), str(tenant), str(reader), digest)
        return rows.evidence(row) if row else None


@dataclass(frozen=True, slots=True)
class PostgresEvidenceReviews:
    """Implements `ports.EvidenceReviews`, with the administrator's power."""

    database: Database

    async def page(
        self, tenant: TenantRef, *, state: EvidenceState | None, after: bytes, size: int
    ) -> Sequence[Evidence]:
        """Evidence in the order of its digests, content left out."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(
                query("evidence_page"), str(tenant), state.value if state else None, after, size
            )
        return [rows.evidence(row) for row in found]

    async def decide(
        self, tenant: TenantRef, digest: bytes, state: EvidenceState, *, by: PrincipalRef, note: str, now: Instant
    ) -> None:
        """Approves or rejects it under its row's lock: of two persons at once the second finds it decided.

        The tenant's lock is shared, which whoever links principals takes alone: a link comes before and counts, or
        after it.
        """
        async with self.database.transaction(tenant) as connection:
            await connection.execute(query("share_tenant_lock"), str(tenant))
            row = await connection.fetchrow(query("lock_evidence"), str(tenant), digest)
            if row is None or row["state"] != EvidenceState.PENDING.value:
                raise NotThere
            found = await connection.fetchrow(query("active_principal"), str(tenant), str(by))
            if found is None or not rows.principal(found).may(Right.DECIDE):
                raise NotTheirs
            person = await connection.fetch(query("same_person"), str(tenant), str(by))
            if row["put_by"] in {linked["principal"] for linked in person}:
                raise NotTheirs
            (decided,) = await connection.fetch(
                query("decide_evidence"), str(tenant), digest, state.value, str(by), now, note
            )
            await audit.append(connection, evidence_event(rows.evidence(decided)))


def _resolved(row: rows.Row) -> ResolvedEvidence:
    signed_by = rows.principal_ref(row["signed_by"]) if row["signed_by"] else None
    state, put_by = EvidenceState(row["state"]), rows.principal_ref(row["put_by"])
    return ResolvedEvidence(row["digest"], state, row["is_kept"], put_by, signed_by)


def _row(evidence: Evidence) -> tuple[object, ...]:
    statement = evidence.statement
    return (
        str(evidence.tenant),
        evidence.digest,
        evidence.media_type,
        evidence.content,
        evidence.reference,
        str(evidence.put_by),
        evidence.visibility.value,
        evidence.visibility_scope,
        str(evidence.signed_by) if evidence.signed_by else None,
        statement.payload_type if statement else None,
        statement.payload if statement else None,
        rows.key_id_bytes(statement.key_id) if statement else None,
        statement.signature if statement else None,
        evidence.put_time,
    )
