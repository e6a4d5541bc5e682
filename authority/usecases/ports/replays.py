"""That what another verifier accepts passes once."""

from typing import Protocol

from authority.domain.references import Instant
from authority.domain.refusal import Refusal
from authority.domain.replay import ReplayAnswer, Reservation


class ReplayReservations(Protocol):
    """Keeps replay keys for as long as what they stand for could be accepted anywhere."""

    async def reserve(self, wanted: Reservation, now: Instant) -> ReplayAnswer | Refusal:
        """RESERVED once for each replay key of a tenant, however many ask at once; durable once it is answered.

        The same request again: RESERVED, replayed, whatever was answered to others since. Only what was reserved is
        kept: REPLAY and CONFLICT use no request id up. `wanted` expires after `now`. Refusals: IDEMPOTENCY_CONFLICT
        `request_id` for one that reserved something else.
        """
        ...
