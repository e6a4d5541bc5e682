"""Proposals: immutable revisions under a head that says which one is current."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.decision import Approval
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.proposal_states import refusal_of
from authority.domain.reasons import Reason
from authority.domain.record import MemoryNamespace
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.search_text import SearchText, search_text
from authority.domain.statement import Statement
from authority.postgres import audit, rows
from authority.postgres.connections import Connection, Database, Refused
from authority.postgres.requests import claim_request, find_request
from authority.postgres.spending import Use, hold_grant, spend_grant
from authority.postgres.sql import query
from authority.usecases.ports import RequestMark, Sees, Spend

FIRST_ID = "00000000-0000-0000-0000-000000000000"
"""Before every id: where paging begins."""
_READ_HERE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class PostgresProposals:
    """Implements `ports.Proposals`."""

    database: Database

    async def namespace(self, tenant: TenantRef, name: str) -> MemoryNamespace | None:
        """The memory namespace, when an operator made it."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            row = await connection.fetchrow(query("memory_namespace_by_name"), str(tenant), name)
        return rows.memory_namespace(row) if row else None

    async def get(self, tenant: TenantRef, proposal_id: str, revision: int) -> StoredProposal | None:
        """The revision, the current one for 0."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            return await read_proposal(connection, tenant, proposal_id, revision)

    async def newest_validation(self, tenant: TenantRef, proposal_id: str, revision: int) -> Statement | None:
        """The newest validation receipt of the revision."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            row = await connection.fetchrow(query("newest_validation"), str(tenant), proposal_id, revision)
        return rows.statement(row) if row else None

    async def decisions_on(self, tenant: TenantRef, proposal_id: str, revision: int, most: int) -> Sequence[Approval]:
        """What was decided on the revision, the newest `most`."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(
                query("newest_approvals_of_revision"), str(tenant), proposal_id, revision, most
            )
        return [rows.approval(row) for row in reversed(found)]

    async def page(
        self,
        tenant: TenantRef,
        *,
        memory_namespace: str,
        state: ProposalState | None,
        reader: PrincipalRef,
        sees: Sees,
        after: str,
        size: int,
        now: Instant,
    ) -> Sequence[StoredProposal]:
        """Current revisions in the order of their ids, content left out."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(
                query("proposal_page"),
                str(tenant),
                memory_namespace,
                state.value if state else None,
                sees.value,
                str(reader),
                after or FIRST_ID,
                size,
                now,
            )
        return [rows.stored_proposal(row) for row in found]

    async def create(
        self, mark: RequestMark, proposal: StoredProposal, spend: Spend | None = None
    ) -> StoredProposal | Refusal:
        """Keeps the revision when it follows the head's current one, and spends what it costs in the same transaction.

        A race for the same revision is CONTENTION: the request id is given back with the transaction.
        """
        revision = proposal.revision
        answer = f"{revision.proposal_id}:{revision.revision}"
        searched = await searched_text(proposal.content, revision.media_type)

        async def work(connection: Connection) -> StoredProposal:
            if spend:
                # Counters are locked before request ids are taken, as by whoever issues.
                await hold_grant(connection, mark.tenant, spend.grant_digest)
            earlier = await claim_request(connection, mark, answer, revision.create_time)
            if earlier:
                return await _answer_again(connection, mark.tenant, earlier)
            await _advance(connection, proposal)
            await _insert(connection, mark, proposal, searched)
            if spend:
                use = Use("memory.propose", spend, revision.proposal_id, revision.revision)
                await spend_grant(connection, mark.tenant, use, revision.create_time)
            return proposal

        return await self.database.attempt(mark.tenant, work)

    async def made_by(self, mark: RequestMark) -> StoredProposal | Refusal | None:
        """What this request kept when it came before, else None."""

        async def work(connection: Connection) -> StoredProposal | None:
            earlier = await find_request(connection, mark)
            return await _answer_again(connection, mark.tenant, earlier) if earlier else None

        return await self.database.attempt(mark.tenant, work)


async def read_proposal(
    connection: Connection, tenant: TenantRef, proposal_id: str, revision: int
) -> StoredProposal | None:
    """A revision inside a transaction of the caller."""
    row = await connection.fetchrow(query("proposal_by_revision"), str(tenant), proposal_id, revision)
    return rows.stored_proposal(row) if row else None


async def _answer_again(connection: Connection, tenant: TenantRef, answer: str) -> StoredProposal:
    proposal_id, _, revision = answer.partition(":")
    found = await read_proposal(connection, tenant, proposal_id, int(revision))
    if found is None:
        raise Refused(Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"}))
    return found


async def _advance(connection: Connection, proposal: StoredProposal) -> None:
    revision = proposal.revision
    key = (str(revision.tenant), revision.proposal_id)
    if revision.revision == 1:
        corrects = revision.supersedes_record_id or None
        if await connection.fetchval(query("insert_proposal_head"), *key, corrects) is None:
            raise Refused(Refusal(Reason.CONTENTION))
        return
    head = await connection.fetchrow(query("lock_proposal_head"), *key)
    if head is None or head["current_revision"] != revision.revision - 1:
        raise Refused(Refusal(Reason.CONTENTION))
    if head["receipt_id"] is not None:
        raise Refused(Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": str(head["receipt_id"])}))
    if head["withdraw_time"] is not None:
        raise Refused(refusal_of(ProposalState.WITHDRAWN))
    await connection.execute(query("advance_proposal_head"), *key, revision.revision)


async def searched_text(content: bytes, media_type: str) -> SearchText:
    """What recall will look for in it; a large document is read in a thread, for others wait."""
    if len(content) > _READ_HERE_BYTES:
        return await asyncio.to_thread(search_text, content, media_type)
    return search_text(content, media_type)


async def _insert(connection: Connection, mark: RequestMark, proposal: StoredProposal, searched: SearchText) -> None:
    revision = proposal.revision
    await connection.execute(
        query("insert_proposal"),
        str(revision.tenant),
        revision.proposal_id,
        revision.revision,
        proposal.digest,
        revision.memory_namespace,
        revision.memory_type.value,
        proposal.content,
        revision.content_digest,
        revision.media_type,
        str(revision.proposer),
        revision.proposer_kind.value,
        [str(actor) for actor in revision.actor_chain],
        revision.provenance.value,
        revision.source_refs,
        revision.subject_refs,
        revision.evidence_digests,
        revision.validator_profile,
        revision.visibility.value,
        revision.valid_from_time,
        revision.valid_until_time,
        revision.record_expire_time,
        revision.correlation_id,
        rows.cost_documents(revision.costs),
        revision.supersedes_record_id,
        revision.create_time,
        searched.said,
        searched.names,
        revision.visibility_scope,
        revision.expire_time,
        str(revision.subject) if revision.subject else None,
    )
    event = mark.event(
        "proposal.create",
        f"{revision.proposal_id}:{revision.revision}",
        ("", ProposalState.PROPOSED.value),
        revision.create_time,
        correlation_id=revision.correlation_id,
        costs=revision.costs,
    )
    await audit.append(connection, event)
