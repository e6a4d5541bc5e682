"""Lets a signed envelope pass once, whichever of a tenant's verifiers meets it."""

from dataclasses import dataclass

from authority.domain import limits
from authority.domain.identity import Caller, require_service
from authority.domain.reasons import Reason
from authority.domain.references import Instant
from authority.domain.refusal import Refusal, over_limit
from authority.domain.replay import ReplayAnswer, Reservation
from authority.usecases.admit import Admit
from authority.usecases.ports import Clock, ReplayReservations, RequestMark


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """What is to be reserved. `replay_key` is a digest of the verifier's text."""

    mark: RequestMark
    replay_key: bytes
    envelope_digest: bytes
    expire_time: Instant


@dataclass(frozen=True, slots=True)
class ReserveReplay:
    """Reserves a replay key for one envelope. Like a proof's nonce it is no event of the audit log."""

    admit: Admit
    reservations: ReplayReservations
    clock: Clock

    async def __call__(self, caller: Caller, request: ReplayRequest) -> ReplayAnswer | Refusal:
        """What became of it: data, for a replay is no error of the call.

        Refusals: NOT_ALLOWED unless a service asks; LIMIT_EXCEEDED for an envelope that outlives every grant; EXPIRED
        at the boundary itself and after, since what it was reserved by may be forgotten; IDEMPOTENCY_CONFLICT.

        A caller that goes away may have reserved it, or not: the same request again finds out. Another one, for the
        same envelope, is told REPLAY then, which lets it pass at most once.
        """
        if refusal := await self.admit(caller) or require_service(caller):
            return refusal
        now = self.clock.now()
        if request.expire_time > now + limits.GRANT_LIFETIME_MS:
            return over_limit("expire_time", "30 days ahead")
        if request.expire_time <= now:
            return Refusal(Reason.EXPIRED, {"field": "expire_time"})
        wanted = Reservation(
            tenant=caller.tenant,
            replay_key=request.replay_key,
            envelope_digest=request.envelope_digest,
            reserved_by=caller.ref,
            request_id=request.mark.request_id,
            request_digest=request.mark.digest,
            reserve_time=now,
            expire_time=request.expire_time,
        )
        return await self.reservations.reserve(wanted, now)
