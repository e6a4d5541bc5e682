"""What policy activated without a person: adopted by one, or taken back together with the record (semantics §7)."""

from dataclasses import dataclass

from authority.domain.activation import Activation, judge_adoption, judge_taking_back
from authority.domain.decision import Approval
from authority.domain.proposal import ProposalState
from authority.domain.proposal_states import state_at
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.postgres.connections import Connection, Database, Refused
from authority.postgres.record_revocations import Burial, bury
from authority.postgres.relay_wake import RelayWake
from authority.postgres.requests import claim_request
from authority.postgres.reviews import insert_approval, tell_of_revision
from authority.postgres.rows import Row
from authority.postgres.sql import query
from authority.postgres.withdrawing import lock_tenant
from authority.usecases.ports import RecordedApproval, RequestMark


@dataclass(frozen=True, slots=True)
class PostgresActivations:
    """Implements `ports.Activations`.

    A person's adoption is kept by the role that keeps persons' decisions, a taking back by the one that revokes memory.
    `source` names this authority in events; `relay` is woken after a record was revoked, when given.
    """

    proposing: Database
    issuing: Database
    source: str
    relay: RelayWake | None = None

    async def adopt(
        self, mark: RequestMark, approval: Approval, refusal: Refusal | None = None
    ) -> RecordedApproval | Refusal:
        """Under the shared lock of the tenant and the head's: a taking back is before or after it, never beside."""

        async def work(connection: Connection) -> RecordedApproval:
            await connection.execute(query("share_tenant_lock"), str(mark.tenant))
            seen, _ = await _activation(connection, approval)
            earlier = await claim_request(connection, mark, _answer(approval, seen.state), approval.decide_time)
            if earlier:
                return _recorded(earlier)
            if refusal:
                raise Refused(refusal)
            # Commits share the lock too: one that ran meanwhile has let go of the head.
            await connection.fetchrow(query("lock_proposal_head"), str(mark.tenant), approval.proposal_id)
            found, _ = await _activation(connection, approval)
            if against := judge_adoption(found):
                raise Refused(against)
            await insert_approval(connection, approval)
            states = (found.state, found.state)
            await tell_of_revision(connection, mark, "adopt", approval, states, approval.decide_time)
            return RecordedApproval(approval.reference, seen.state)

        return await self.proposing.attempt(mark.tenant, work)

    async def take_back(
        self, mark: RequestMark, approval: Approval, traceparent: str, refusal: Refusal | None = None
    ) -> RecordedApproval | Refusal:
        """Alone under the tenant's lock, as every withdrawal: the record's revocation is in the same transaction."""

        async def work(connection: Connection) -> RecordedApproval:
            await lock_tenant(connection, mark.tenant)
            answer = _answer(approval, ProposalState.COMMITTED)
            earlier = await claim_request(connection, mark, answer, approval.decide_time)
            if earlier:
                return _recorded(earlier)
            if refusal:
                raise Refused(refusal)
            found, content = await _activation(connection, approval)
            against = judge_taking_back(found)
            if against or content is None:
                raise Refused(against or Refusal(Reason.NOT_FOUND))
            await insert_approval(connection, approval)
            states = (found.state, found.state)
            await tell_of_revision(connection, mark, "revoke", approval, states, approval.decide_time)
            burial = Burial(mark, found.record_id, approval.note, traceparent, approval.decide_time, self.source)
            await bury(connection, burial, content)
            return RecordedApproval(approval.reference, ProposalState.COMMITTED)

        answer = await self.issuing.attempt(mark.tenant, work)
        if self.relay and not isinstance(answer, Refusal):
            self.relay.wake()
        return answer


async def _activation(connection: Connection, approval: Approval) -> tuple[Activation, Row | None]:
    """Where it stands, and what its record says by digest, once there is one. Raises Refused with NOT_FOUND."""
    tenant, revision = str(approval.tenant), approval.proposal_revision
    row = await connection.fetchrow(query("activation"), tenant, approval.proposal_id, revision)
    if row is None:
        raise Refused(Refusal(Reason.NOT_FOUND))
    state = ProposalState(row["state"]) if row["current_revision"] == revision else ProposalState.SUPERSEDED
    content: Row | None = None
    if row["record_id"] is not None:
        content = await connection.fetchrow(query("first_withdrawal"), tenant, row["record_id"])
    found = Activation(
        state=state_at(state, row["expire_time"], approval.decide_time),
        receipt_id=_text(row["receipt_id"]),
        record_id=_text(row["record_id"]),
        reference=_text(row["reference"]),
        is_adopted=row["is_adopted"],
        is_withdrawn=content is not None and content["sequence"] is not None,
    )
    return found, content


def _answer(approval: Approval, state: ProposalState) -> str:
    return f"{approval.reference}:{state.value}"


def _recorded(answer: str) -> RecordedApproval:
    reference, _, state = answer.partition(":")
    return RecordedApproval(reference, ProposalState(state))


def _text(found: object) -> str:
    return "" if found is None else str(found)
