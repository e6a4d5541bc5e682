"""The port `ReplayReservations` in a dict."""

from dataclasses import dataclass

from authority.domain.references import Instant
from authority.domain.refusal import Refusal
from authority.domain.replay import KEPT_MS, ReplayAnswer, ReplayOutcome, Reservation, judge_in_the_way
from authority.inprocess.tables import Tables


@dataclass(frozen=True, slots=True)
class InProcessReplayReservations:
    """Implements `ports.ReplayReservations`."""

    tables: Tables

    async def reserve(self, wanted: Reservation, now: Instant) -> ReplayAnswer | Refusal:
        """RESERVED, or what stands in its way."""
        kept = self.tables.replay_reservations
        if answer := judge_in_the_way(wanted, (it for it in kept.values() if it.tenant == wanted.tenant)):
            return answer
        kept[wanted.tenant, wanted.replay_key] = wanted
        for place, it in list(kept.items()):
            if it.tenant == wanted.tenant and it.expire_time < now - KEPT_MS:
                del kept[place]
        return ReplayAnswer(ReplayOutcome.RESERVED)
