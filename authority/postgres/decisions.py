"""What policy decided: drawn, read, judged and kept in one transaction."""

from dataclasses import dataclass

from authority.domain.citation import CitedMemory, cited_memory, cited_sources
from authority.domain.decision import DecisionFacts, DecisionReceipt, SignedDecision
from authority.domain.proposal import ProposalRevision
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.validation import SignedValidation
from authority.postgres import audit, rows
from authority.postgres.connections import Connection, Database, Refused, await_standby
from authority.postgres.external_authorities import read_external_authorities
from authority.postgres.requests import claim_request
from authority.postgres.sql import query
from authority.usecases.ports import Clock, Decide, RequestMark, Statements

_TRIES = 16
"""Each time that others were faster, one of them got on: after so many the caller is told of the contention."""


@dataclass(frozen=True, slots=True)
class PostgresDecisions:
    """Implements `ports.Decisions`."""

    database: Database
    statements: Statements
    clock: Clock

    async def decide(
        self, mark: RequestMark, proposal_id: str, revision: int, holder: PrincipalRef, decide: Decide
    ) -> SignedDecision | Refusal:
        """The tenant's lock is shared before the sequence is drawn, and that before the facts are read.

        So a withdrawal either is among the facts or has a later sequence (semantics §8).
        """
        answer = await self._decide_once(mark, proposal_id, revision, holder, decide)
        for _ in range(_TRIES):
            if not isinstance(answer, Refusal) or answer.reason is not Reason.CONTENTION:
                return answer
            answer = await self._decide_once(mark, proposal_id, revision, holder, decide)
        return answer

    async def _decide_once(
        self, mark: RequestMark, proposal_id: str, revision: int, holder: PrincipalRef, decide: Decide
    ) -> SignedDecision | Refusal:
        """CONTENTION when another decision used up, meanwhile, what this one would rest on: so nothing was kept."""

        async def work(connection: Connection) -> SignedDecision:
            await connection.execute(query("share_tenant_lock"), str(mark.tenant))
            answer = await self._answered(connection, mark)
            if answer:
                return await self._decided(connection, mark.tenant, answer)
            sequence = await connection.fetchval(query("next_sequence"))
            facts = await self._facts(connection, mark.tenant, proposal_id, revision, holder)
            signed = decide(facts, sequence)
            if isinstance(signed, Refusal):
                raise Refused(signed)
            earlier = await claim_request(connection, mark, signed.digest.hex(), self.clock.now())
            if earlier:
                return await self._decided(connection, mark.tenant, earlier)
            await _insert(connection, mark, signed)
            await _use(connection, facts, signed)
            return signed

        return await self.database.attempt(mark.tenant, work)

    async def _answered(self, connection: Connection, mark: RequestMark) -> str | None:
        row = await connection.fetchrow(query("request_by_id"), str(mark.tenant), str(mark.principal), mark.request_id)
        if row and row["digest"] != mark.digest:
            raise Refused(Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"}))
        if row is None:
            return None
        await await_standby(connection)
        return str(row["answer"])

    async def _decided(self, connection: Connection, tenant: TenantRef, digest: str) -> SignedDecision:
        found = await read_decision(connection, self.statements, tenant, bytes.fromhex(digest))
        if found is None:
            raise Refused(Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"}))
        return found

    async def _facts(
        self, connection: Connection, tenant: TenantRef, proposal_id: str, revision: int, holder: PrincipalRef
    ) -> DecisionFacts:
        row = await connection.fetchrow(query("proposal_by_revision"), str(tenant), proposal_id, revision)
        if row is None:
            raise Refused(Refusal(Reason.NOT_FOUND))
        proposal = rows.stored_proposal(row)
        key = (str(tenant), proposal_id, proposal.revision.revision)
        namespace = await connection.fetchrow(
            query("bundle_of_namespace"), str(tenant), proposal.revision.memory_namespace
        )
        validation = await connection.fetchrow(query("newest_validation"), *key)
        approvals = await connection.fetch(query("approvals_of_revision"), *key)
        deciders = await connection.fetch(query("deciders_of_revision"), *key) if approvals else ()
        principal = await connection.fetchrow(query("active_principal"), str(tenant), str(holder))
        if namespace is None:
            raise Refused(Refusal(Reason.NOT_FOUND))
        return DecisionFacts(
            proposal=proposal,
            is_newest_revision=proposal.revision.revision == row["current_revision"],
            validation=open_validation(self.statements, validation),
            approvals=tuple(rows.approval(approval) for approval in approvals),
            deciders={rows.principal_ref(decider["principal"]): rows.decider(decider) for decider in deciders},
            namespace=rows.memory_namespace(namespace),
            holder=rows.principal(principal) if principal else None,
            bundle=namespace["bundle"],
            cited=await _cited(connection, proposal.revision, self.clock.now()),
            externals=await read_external_authorities(connection, proposal.revision.tenant),
        )


async def _cited(connection: Connection, revision: ProposalRevision, now: Instant) -> CitedMemory:
    """As its proposer may read it; most revisions cite nothing, and are not asked about."""
    named = cited_sources(revision.source_refs)
    if not named or isinstance(named, Refusal):
        return cited_memory(revision.source_refs, {})
    ids = [it.record_id for it in named]
    found = await connection.fetch(query("cited_records"), str(revision.tenant), ids, str(revision.proposer), now)
    return cited_memory(revision.source_refs, {str(row["record_id"]): row["validated"] for row in found})


def open_validation(statements: Statements, row: rows.Row | None) -> SignedValidation | None:
    """The stored validation receipt, or None when there is none."""
    opened = statements.open_validation(rows.statement(row)) if row else None
    return None if isinstance(opened, Refusal) else opened


async def read_decision(
    connection: Connection, statements: Statements, tenant: TenantRef, digest: bytes
) -> SignedDecision | None:
    """The stored decision receipt with that digest."""
    row = await connection.fetchrow(query("decision_by_digest"), str(tenant), digest)
    opened = statements.open_decision(rows.statement(row)) if row else None
    return None if isinstance(opened, Refusal) else opened


async def _insert(connection: Connection, mark: RequestMark, signed: SignedDecision) -> None:
    receipt, statement = signed.receipt, signed.statement
    await connection.execute(
        query("insert_decision"),
        str(receipt.tenant),
        signed.digest,
        receipt.decision_id,
        receipt.proposal_id,
        receipt.proposal_revision,
        receipt.memory_namespace,
        str(receipt.holder),
        receipt.validation_receipt_digest,
        receipt.policy_version,
        receipt.outcome.value,
        receipt.sequence,
        statement.payload_type,
        statement.payload,
        rows.key_id_bytes(statement.key_id),
        statement.signature,
        receipt.decide_time,
        receipt.expire_time,
        receipt.approval_references,
        receipt.persons_needed,
        [rows.key_id_bytes(key_id) for key_id in signed.external_key_ids],
    )
    if receipt.activates:
        await _insert_activation(connection, receipt)
    event = mark.event(
        "policy.decide",
        f"{receipt.proposal_id}:{receipt.proposal_revision}",
        ("", receipt.next_state),
        receipt.decide_time,
        correlation_id=receipt.correlation_id,
    )
    await audit.append(connection, event)


async def _insert_activation(connection: Connection, receipt: DecisionReceipt) -> None:
    await connection.execute(
        query("insert_activation"),
        str(receipt.tenant),
        receipt.decision_id,
        receipt.proposal_id,
        receipt.proposal_revision,
        receipt.proposal_digest,
        receipt.validation_receipt_digest,
        str(receipt.holder),
        receipt.policy_version,
        receipt.determining_policies,
        receipt.sequence,
        receipt.decide_time,
        receipt.expire_time,
    )


async def _use(connection: Connection, facts: DecisionFacts, signed: SignedDecision) -> None:
    """Uses what has a number of uses. Raises Refused with CONTENTION when others used it since the facts were read."""
    named = signed.receipt.approval_references
    numbered = {it.reference for it in facts.approvals if it.reference in named and it.max_uses is not None}
    if not numbered:
        return
    tenant, time = str(signed.receipt.tenant), signed.receipt.decide_time
    used = await connection.fetch(query("use_approvals"), tenant, sorted(numbered), signed.digest, time)
    if len(used) < len(numbered):
        raise Refused(Refusal(Reason.CONTENTION))
