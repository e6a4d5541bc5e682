"""Withdraws a record of learned memory for ever (semantics §8)."""

from dataclasses import dataclass

from authority.domain.freshness import Freshness
from authority.domain.identity import Caller
from authority.domain.reasons import Reason
from authority.domain.record import may_revoke_record
from authority.domain.refusal import Refusal
from authority.usecases.admit import Admit
from authority.usecases.ports import Clock, RecordRevocations, RequestMark, RevisionTokens, RevokedRecord


@dataclass(frozen=True, slots=True)
class RecordRevocation:
    """Which record to withdraw, and why. Its event carries the trace on."""

    mark: RequestMark
    record_id: str
    note: str
    traceparent: str


@dataclass(frozen=True, slots=True)
class RevocationAnswer:
    """When a record was revoked first, and a token for recalls that must know of it."""

    revoked: RevokedRecord
    revision_token: str


@dataclass(frozen=True, slots=True)
class RevokeRecord:
    """Once it has answered, nobody reads the record, and nothing that was decided before brings its content back."""

    admit: Admit
    revocations: RecordRevocations
    clock: Clock
    revisions: RevisionTokens

    async def __call__(self, caller: Caller, request: RecordRevocation) -> RevocationAnswer | Refusal:
        """When it was revoked first.

        Refusals: NOT_FOUND for what is absent or none of the caller's business, which sound alike (case G02);
        IDEMPOTENCY_CONFLICT.
        """
        if refusal := await self.admit(caller):
            return refusal
        # Looked up before the tenant's commits are made to wait: nobody may stop them by asking for what is not theirs.
        # A record never vanishes and never changes hands.
        parties = await self.revocations.parties_of(caller.tenant, request.record_id)
        if parties is None or not may_revoke_record(caller, parties):
            return Refusal(Reason.NOT_FOUND)
        revoked = await self.revocations.revoke_record(
            request.mark, request.record_id, request.note, request.traceparent, self.clock.now()
        )
        if isinstance(revoked, Refusal):
            return revoked
        token = self.revisions.seal(caller.tenant, Freshness(tombstone_sequence=revoked.sequence))
        return RevocationAnswer(revoked, token)
