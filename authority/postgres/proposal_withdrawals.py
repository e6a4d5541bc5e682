"""Withdrawals of proposals, alone under their tenant's lock (data.md, lock order)."""

from dataclasses import dataclass

from authority.domain.proposal import ProposalState
from authority.domain.proposal_states import Act, judge_act
from authority.domain.reasons import Reason
from authority.domain.references import Instant
from authority.domain.refusal import Refusal
from authority.postgres import audit
from authority.postgres.connections import Connection, Database, Refused
from authority.postgres.requests import claim_request
from authority.postgres.sql import query
from authority.postgres.withdrawing import lock_tenant
from authority.usecases.ports import RequestMark, WithdrawnProposal


@dataclass(frozen=True, slots=True)
class PostgresProposalWithdrawals:
    """Implements `ports.ProposalWithdrawals`."""

    database: Database

    async def withdraw(self, mark: RequestMark, proposal_id: str, now: Instant) -> WithdrawnProposal | Refusal:
        """Withdraws it in one transaction with its audit event.

        Broken off or killed anywhere, either all of it happened or nothing did; the same request again, or another one,
        is told which. A commit that had begun before we got the lock has landed, and answers ALREADY_COMMITTED here;
        one that begins later waits for us or finds the head withdrawn.
        """

        async def work(connection: Connection) -> WithdrawnProposal:
            await lock_tenant(connection, mark.tenant)
            await claim_request(connection, mark, proposal_id, now)
            head = await connection.fetchrow(query("lock_proposal_head"), str(mark.tenant), proposal_id)
            if head is None:
                raise Refused(Refusal(Reason.NOT_FOUND))
            if head["withdraw_time"] is not None:
                return WithdrawnProposal(head["withdraw_time"], replayed=True)
            previous = ProposalState(head["state"])
            judged = judge_act(previous, Act.WITHDRAW, receipt_id=str(head["receipt_id"] or ""))
            if isinstance(judged, Refusal):
                raise Refused(judged)
            await connection.execute(query("withdraw_proposal"), str(mark.tenant), proposal_id, now)
            await _tell(connection, mark, proposal_id, head["current_revision"], previous, now)
            return WithdrawnProposal(now, replayed=False)

        return await self.database.attempt(mark.tenant, work)


async def _tell(
    connection: Connection, mark: RequestMark, proposal_id: str, revision: int, previous: ProposalState, now: Instant
) -> None:
    correlation_id = await connection.fetchval(query("times_of_revision"), str(mark.tenant), proposal_id, revision)
    event = mark.event(
        "proposal.withdraw",
        proposal_id,
        (previous.value, ProposalState.WITHDRAWN.value),
        now,
        correlation_id=correlation_id,
    )
    await audit.append(connection, event)
