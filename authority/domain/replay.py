"""That a signed envelope passes once: the reservation of its replay key, and what stands in a reservation's way."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from authority.domain.reasons import Reason
from authority.domain.references import MINUTE, Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal

KEPT_MS: Final = 10 * MINUTE
"""How long a reservation outlives its envelope at least: no two clocks that judge it differ by as much."""


class ReplayOutcome(Enum):
    """What upstream's verifier is told of an envelope that it would let pass."""

    RESERVED = "reserved"
    REPLAY = "replay"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A replay key and the one envelope that it stands for, until some time after nobody accepts that any more."""

    tenant: TenantRef
    replay_key: bytes
    """SHA-256 of what the verifier calls the envelope by."""
    envelope_digest: bytes
    reserved_by: PrincipalRef
    request_id: str
    request_digest: bytes
    """Of the whole request, so that another under the same id is told from the same one."""
    reserve_time: Instant
    expire_time: Instant


@dataclass(frozen=True, slots=True)
class ReplayAnswer:
    """What became of a reservation; `replayed` when this same request was answered so before."""

    outcome: ReplayOutcome
    replayed: bool = False


def judge_in_the_way(wanted: Reservation, kept: Iterable[Reservation]) -> ReplayAnswer | Refusal | None:
    """What those that have the wanted replay key, or used its request id, answer; None where there are none.

    The request itself answers before any other has a say: a lost answer is no replay. IDEMPOTENCY_CONFLICT
    `request_id` for one that was used for another reservation.
    """
    others = tuple(kept)
    for own in others:
        if (own.reserved_by, own.request_id) == (wanted.reserved_by, wanted.request_id):
            if own.request_digest == wanted.request_digest:
                return ReplayAnswer(ReplayOutcome.RESERVED, replayed=True)
            return Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"})
    for other in others:
        if other.replay_key == wanted.replay_key:
            is_same = other.envelope_digest == wanted.envelope_digest
            return ReplayAnswer(ReplayOutcome.REPLAY if is_same else ReplayOutcome.CONFLICT)
    return None
