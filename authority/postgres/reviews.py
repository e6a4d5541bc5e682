"""What validators and persons say of a revision, kept under the lock of its head."""

from dataclasses import dataclass, replace

from authority.domain.decision import Approval, ApprovalVerdict
from authority.domain.likeness import NO_TRAITS, Traits
from authority.domain.proposal import ProposalState
from authority.domain.proposal_states import ACT_OF_VERDICT, UNEXPIRING, Act, judge_act, refusal_of, state_at
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal, malformed
from authority.domain.revocation import Revoked, RevokedKind
from authority.domain.validation import SignedValidation, ValidationReceipt
from authority.postgres import audit, rows
from authority.postgres.connections import Connection, Database, Refused
from authority.postgres.likenesses import keep_traits, note_secrets
from authority.postgres.requests import claim_request, find_request
from authority.postgres.sql import query
from authority.postgres.withdrawing import append_revocation, lock_tenant
from authority.usecases.ports import RecordedApproval, RecordedValidation, RequestMark, Statements

_ACTS = {
    ProposalState.VALIDATING: Act.START_VALIDATING,
    ProposalState.VALIDATED: Act.PASS,
    ProposalState.REJECTED: Act.FAIL,
}
MANY = "many"
"""What a request of many decisions is answered with: each of them has an answer of its own."""

_ERASED_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class PostgresValidations:
    """Implements `ports.Validations`."""

    database: Database
    statements: Statements

    async def duplicate_of(
        self,
        tenant: TenantRef,
        memory_namespace: str,
        content_digest: bytes,
        *,
        reader: PrincipalRef,
        corrects: str = "",
    ) -> str | None:
        """The living record that holds exactly this content, other than the one that is to be corrected."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetchval(
                query("duplicate_record"), str(tenant), memory_namespace, content_digest, corrects or None, str(reader)
            )
        return str(found) if found else None

    async def answered(self, mark: RequestMark) -> RecordedValidation | Refusal | None:
        """What this request was answered with when it came before."""

        async def work(connection: Connection) -> RecordedValidation | None:
            earlier = await find_request(connection, mark)
            return await self._answer_again(connection, mark.tenant, earlier) if earlier else None

        return await self.database.attempt(mark.tenant, work)

    async def begin(self, mark: RequestMark, proposal_id: str, revision: int, now: Instant) -> None:
        """Moves a revision that was only proposed to VALIDATING. What it meets in another state it leaves there."""
        async with self.database.transaction(mark.tenant) as connection:
            moved = await connection.fetchrow(query("begin_validation"), str(mark.tenant), proposal_id, revision)
            if moved:
                event = mark.event(
                    "proposal.validate",
                    proposal_id,
                    (ProposalState.PROPOSED.value, ProposalState.VALIDATING.value),
                    now,
                    correlation_id=str(moved["correlation_id"]),
                )
                await audit.append(connection, event)

    async def erase_reviewed(self, now: Instant) -> int:
        """Has the database erase what is to be: the function's owner alone can empty content."""
        async with self.database.transaction() as connection:
            return int(await connection.fetchval(query("erase_reviewed"), now, _ERASED_AT_ONCE))

    async def keep(
        self, mark: RequestMark, signed: SignedValidation, state: ProposalState, traits: Traits = NO_TRAITS
    ) -> RecordedValidation | Refusal:
        """Keeps the receipt and moves the revision on; an approval of an earlier validation no longer counts."""
        receipt = signed.receipt

        async def work(connection: Connection) -> RecordedValidation:
            earlier = await claim_request(
                connection, mark, f"{signed.digest.hex()}:{state.value}", receipt.validate_time
            )
            if earlier:
                return await self._answer_again(connection, mark.tenant, earlier)
            key = (mark.tenant, receipt.proposal_id, receipt.proposal_revision)
            previous = await lock_current(connection, *key, receipt.validate_time)
            _require(previous, _ACTS[state], turned_down=await _is_turned_down(connection, *key))
            if await connection.fetchval(query("content_is_erased"), str(mark.tenant), *key[1:]):
                raise Refused(Refusal(Reason.NOT_VALIDATED, {"problem": "content erased"}))
            await _insert_validation(connection, signed)
            await keep_traits(connection, receipt, traits)
            await note_secrets(connection, receipt)
            await _move(connection, mark.tenant, receipt.proposal_id, state)
            await tell_of_revision(connection, mark, "validate", receipt, (previous, state), receipt.validate_time)
            return RecordedValidation(signed, state)

        return await self.database.attempt(mark.tenant, work)

    async def _answer_again(self, connection: Connection, tenant: TenantRef, answer: str) -> RecordedValidation:
        digest, _, state = answer.partition(":")
        row = await connection.fetchrow(query("validation_by_digest"), str(tenant), bytes.fromhex(digest))
        opened = self.statements.open_validation(rows.statement(row)) if row else malformed("request_id", "used before")
        if isinstance(opened, Refusal):
            raise Refused(opened)
        return RecordedValidation(opened, ProposalState(state))


@dataclass(frozen=True, slots=True)
class PostgresApprovals:
    """Implements `ports.Approvals`."""

    database: Database

    async def decide(
        self, mark: RequestMark, approval: Approval, state: ProposalState, refusal: Refusal | None = None
    ) -> RecordedApproval | Refusal:
        """Keeps the decision. One against takes the tenant's lock alone: no commit that ignores it can still land."""

        async def work(connection: Connection) -> RecordedApproval:
            withdraws = approval.verdict.is_against
            if withdraws:
                await lock_tenant(connection, mark.tenant)
            else:
                await connection.execute(query("share_tenant_lock"), str(mark.tenant))
            answer = f"{approval.reference}:{state.value}"
            earlier = await claim_request(connection, mark, answer, approval.decide_time)
            if earlier:
                reference, _, kept_state = earlier.partition(":")
                return RecordedApproval(reference, ProposalState(kept_state))
            if refusal:
                raise Refused(refusal)
            proposal_id = approval.proposal_id
            key = (mark.tenant, proposal_id, approval.proposal_revision)
            previous = await lock_current(connection, *key, approval.decide_time)
            if withdraws:
                await _withdraw_approvals(connection, mark.tenant, approval)
            _require(previous, ACT_OF_VERDICT[approval.verdict])
            await insert_approval(connection, approval)
            await _move(connection, mark.tenant, proposal_id, state)
            await tell_of_revision(
                connection, mark, approval.verdict.value, approval, (previous, state), approval.decide_time
            )
            return RecordedApproval(approval.reference, state)

        return await self.database.attempt(mark.tenant, work)

    async def claim(self, mark: RequestMark, now: Instant) -> Refusal | None:
        """Takes the request id for a request that asks for many decisions."""

        async def work(connection: Connection) -> None:
            await claim_request(connection, mark, MANY, now)

        return await self.database.attempt(mark.tenant, work)


async def lock_current(
    connection: Connection, tenant: TenantRef, proposal_id: str, revision: int, now: Instant
) -> ProposalState:
    """Locks the head and answers with the revision's state now. Raises Refused unless it can still move."""
    head = await connection.fetchrow(query("lock_proposal_head"), str(tenant), proposal_id)
    if head is None:
        raise Refused(Refusal(Reason.NOT_FOUND))
    if head["current_revision"] != revision:
        raise Refused(refusal_of(ProposalState.SUPERSEDED))
    # A new statement and so a new snapshot: the revision that the lock protects is there.
    kept = await connection.fetchrow(query("times_of_revision"), str(tenant), proposal_id, revision)
    state = state_at(ProposalState(head["state"]), kept["expire_time"] if kept else None, now)
    if state in UNEXPIRING or state is ProposalState.EXPIRED:
        raise Refused(refusal_of(state, str(head["receipt_id"] or "")))
    return state


def _require(state: ProposalState, act: Act, *, turned_down: bool = False) -> None:
    """Raises Refused for an act that the state does not allow."""
    judged = judge_act(state, act, turned_down=turned_down)
    if isinstance(judged, Refusal):
        raise Refused(judged)


async def _is_turned_down(connection: Connection, tenant: TenantRef, proposal_id: str, revision: int) -> bool:
    """Whether a person's last word was against the revision."""
    verdict = await connection.fetchval(query("last_verdict"), str(tenant), proposal_id, revision)
    return bool(verdict) and ApprovalVerdict(verdict).turns_down


async def _withdraw_approvals(connection: Connection, tenant: TenantRef, against: Approval) -> None:
    """Tells the feed of every approval that the decision against takes back."""
    key = (str(tenant), against.proposal_id, against.proposal_revision)
    for row in await connection.fetch(query("standing_approvals"), *key):
        taken_back = Revoked(
            tenant=tenant,
            kind=RevokedKind.APPROVAL,
            subject=str(row["reference"]),
            revoke_time=against.decide_time,
        )
        await append_revocation(connection, taken_back)


async def _move(connection: Connection, tenant: TenantRef, proposal_id: str, state: ProposalState) -> None:
    await connection.execute(query("set_proposal_state"), str(tenant), proposal_id, state.value)


async def tell_of_revision(
    connection: Connection,
    mark: RequestMark,
    verb: str,
    of: ValidationReceipt | Approval,
    states: tuple[ProposalState, ProposalState],
    time: Instant,
) -> None:
    """Writes the audit event `proposal.<verb>` in this transaction."""
    key = (str(mark.tenant), of.proposal_id, of.proposal_revision)
    event = mark.event(
        f"proposal.{verb}",
        of.proposal_id,
        (states[0].value, states[1].value),
        time,
        correlation_id=await connection.fetchval(query("times_of_revision"), *key),
    )
    await audit.append(connection, event)


async def _insert_validation(connection: Connection, signed: SignedValidation) -> None:
    receipt, statement = signed.receipt, signed.statement
    await connection.execute(
        query("insert_validation"),
        str(receipt.tenant),
        signed.digest,
        receipt.validation_id,
        receipt.proposal_id,
        receipt.proposal_revision,
        receipt.memory_namespace,
        receipt.validator_profile,
        receipt.validator_profile_version,
        receipt.outcome.value,
        await connection.fetchval(query("next_sequence")),
        statement.payload_type,
        statement.payload,
        rows.key_id_bytes(statement.key_id),
        statement.signature,
        receipt.validate_time,
        receipt.expire_time,
    )


async def insert_approval(connection: Connection, approval: Approval) -> None:
    """Keeps the decision on the newest validation. Raises Refused with NOT_VALIDATED when there is none."""
    tenant = str(approval.tenant)
    row = await connection.fetchrow(
        query("newest_validation"), tenant, approval.proposal_id, approval.proposal_revision
    )
    if row is None:
        raise Refused(Refusal(Reason.NOT_VALIDATED))
    on_validation = replace(approval, validation_receipt_digest=row["digest"])
    await connection.execute(
        query("insert_approval"),
        tenant,
        on_validation.reference,
        on_validation.proposal_id,
        on_validation.proposal_revision,
        on_validation.proposal_digest,
        on_validation.validation_receipt_digest,
        on_validation.verdict.value,
        str(on_validation.decided_by),
        on_validation.decided_by_kind.value,
        on_validation.note,
        str(on_validation.holder) if on_validation.holder else None,
        on_validation.max_uses,
        await connection.fetchval(query("next_sequence")),
        on_validation.decide_time,
        on_validation.expire_time,
    )
