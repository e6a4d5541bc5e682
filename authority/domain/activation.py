"""What policy activated without a person: reversible until a person adopts it (semantics §7, seed 002)."""

from dataclasses import dataclass

from authority.domain.proposal import ProposalState
from authority.domain.proposal_states import COMMITTABLE, refusal_of
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal

_STANDING = COMMITTABLE | {ProposalState.COMMITTED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """Where a revision stands that policy may have allowed by itself."""

    state: ProposalState
    receipt_id: str
    """Of its commit; empty before."""
    record_id: str
    """What its commit made; empty before."""
    reference: str
    """Of policy's decision that nobody took back; once committed, of the one that the record rests on. Empty when there
    is none: nothing was allowed, or persons approved it."""
    is_adopted: bool
    is_withdrawn: bool
    """Whether its record was revoked."""


def judge_adoption(found: Activation) -> Refusal | None:
    """NOT_VALIDATED or EXPIRED for the state, REVOKED, or NOT_FOUND when policy activated nothing to be adopted."""
    if found.state not in _STANDING:
        return refusal_of(found.state)
    if found.is_withdrawn:
        return Refusal(Reason.REVOKED, {"field": "proposal_id", "problem": "its record was revoked"})
    if not found.reference:
        return Refusal(Reason.NOT_FOUND, {"field": "verdict"})
    return None


def judge_taking_back(found: Activation) -> Refusal | None:
    """REVOKED when that is done; ALREADY_COMMITTED when the commit is final, as persons approved it or one adopted it.

    Whoever answers for a final record can revoke it by RevokeRecord.
    """
    if found.state is not ProposalState.COMMITTED:
        return refusal_of(found.state)
    if found.is_withdrawn:
        return Refusal(Reason.REVOKED, {"field": "proposal_id", "problem": "its record was revoked"})
    if found.is_adopted or not found.reference:
        return Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": found.receipt_id})
    return None
