"""What became of records, and what their commits stood on."""

from dataclasses import dataclass

from authority.domain.action_envelope import KeptEnvelope
from authority.domain.history import AuditTrail, RecordHistory
from authority.domain.plan import CommitReceipt
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.statement import Statement
from authority.postgres import rows
from authority.postgres.connections import Connection, Database, await_standby
from authority.postgres.proposals import FIRST_ID
from authority.postgres.sql import query


@dataclass(frozen=True, slots=True)
class PostgresHistories:
    """Implements `ports.Histories`. Tells of no receipt that a new primary might lack."""

    database: Database

    async def of_record(self, tenant: TenantRef, record_id: str, reader: PrincipalRef) -> RecordHistory | None:
        """The record with its receipt, whatever became of it."""
        key = (str(tenant), record_id)
        async with self.database.transaction(tenant) as connection:
            found = await connection.fetchrow(query("record_history"), *key, str(reader))
            receipt = await connection.fetchrow(query("receipt_by_record"), *key)
            await await_standby(connection)
        if found is None:
            return None
        return RecordHistory(
            record=rows.memory_record(found),
            receipt=rows.stored_receipt(receipt) if receipt else None,
            revoke_time=found["revoke_time"],
            revoke_note=found["revoke_note"] or "",
            superseded_by=_text(found["superseded_by"]),
            supersede_time=found["supersede_time"],
            is_shown=found["is_shown"],
        )

    async def trail(self, tenant: TenantRef, receipt: CommitReceipt, most: int) -> AuditTrail:
        """What the receipt's capability names, by ids and digests."""
        terms, of = receipt.capability, str(tenant)
        proposal = (of, terms.proposal_id)
        async with self.database.transaction(tenant, read_only=True) as connection:
            approvals = await connection.fetch(
                query("newest_approvals_of_revision"), *proposal, terms.proposal_revision, most
            )
            revisions = await connection.fetch(query("revisions_of_proposal"), *proposal, most)
            citations = await connection.fetch(query("citations_told_of"), of, receipt.record_id, FIRST_ID, most)
            return AuditTrail(
                capability=await _statement(connection, query("capability_by_id"), of, terms.capability_id),
                validation=await _statement(
                    connection, query("validation_by_digest"), of, terms.validation_receipt_digest
                ),
                decision=await _statement(connection, query("decision_by_digest"), of, terms.decision_receipt_digest),
                approvals=tuple(rows.approval(row) for row in reversed(approvals)),
                revisions=tuple(rows.stored_proposal(row).revision for row in revisions),
                citations=tuple(rows.citation(row) for row in citations),
                envelope=_envelope(await connection.fetchrow(query("upstream_proof"), of, receipt.receipt_id)),
            )


async def _statement(connection: Connection, sql: str, *key: str | bytes) -> Statement | None:
    row = await connection.fetchrow(sql, *key)
    return rows.statement(row) if row else None


def _envelope(row: rows.Row | None) -> KeptEnvelope | None:
    return KeptEnvelope(row["envelope"], row["digest"], rows.key_id_text(row["key_id"])) if row else None


def _text(found: object) -> str:
    return "" if found is None else str(found)
