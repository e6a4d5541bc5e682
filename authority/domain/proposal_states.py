"""What becomes of a proposal revision by which act: the whole table, and why an act is refused (semantics §5, §7).

Stores move a proposal only by `judge_act`, under its lock. Two states are stored nowhere: SUPERSEDED is that of every
revision but the newest, and EXPIRED is reckoned from the clock whenever a revision is read or moved, so that no job has
to run. A house test and the contract tests hold the SQL and the stores to this table.
"""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

from authority.domain.decision import ApprovalVerdict
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.reasons import Reason
from authority.domain.references import Instant
from authority.domain.refusal import Refusal


class Act(Enum):
    """What is done to a revision."""

    START_VALIDATING = "start_validating"
    PASS = "pass"  # noqa: S105 - an outcome, not a password
    FAIL = "fail"
    APPROVE = "approve"
    REJECT = "reject"
    REQUEST_CHANGES = "request_changes"
    REVOKE_APPROVAL = "revoke_approval"
    SUPERSEDE = "supersede"
    COMMIT = "commit"
    WITHDRAW = "withdraw"
    EXPIRE = "expire"


_S = ProposalState
_ENDING: Final = {Act.SUPERSEDE: _S.SUPERSEDED, Act.WITHDRAW: _S.WITHDRAWN, Act.EXPIRE: _S.EXPIRED}
_VALIDATING: Final = {Act.START_VALIDATING: _S.VALIDATING, Act.PASS: _S.VALIDATED, Act.FAIL: _S.REJECTED}
_TURNING_DOWN: Final = {Act.REJECT: _S.REJECTED, Act.REQUEST_CHANGES: _S.CHANGES_REQUESTED}
_STANDING: Final = {
    **_VALIDATING,
    **_TURNING_DOWN,
    **_ENDING,
    Act.APPROVE: _S.APPROVED,
    Act.REVOKE_APPROVAL: _S.VALIDATED,
    Act.COMMIT: _S.COMMITTED,
}

TRANSITIONS: Final[Mapping[ProposalState, Mapping[Act, ProposalState]]] = MappingProxyType(
    {
        _S.PROPOSED: {**_VALIDATING, **_ENDING},
        # Nothing is decided on what was never validated; what is being validated again may be turned down meanwhile.
        _S.VALIDATING: {**_VALIDATING, **_TURNING_DOWN, **_ENDING},
        _S.VALIDATED: _STANDING,
        _S.APPROVED: _STANDING,
        # By validators: it may pass later. By a person it stays so, which `judge_act` is told.
        _S.REJECTED: {**_VALIDATING, **_TURNING_DOWN, **_ENDING},
        _S.CHANGES_REQUESTED: {**_TURNING_DOWN, **_ENDING},
        # A next revision has a lifetime of its own.
        _S.EXPIRED: {Act.SUPERSEDE: _S.SUPERSEDED, Act.WITHDRAW: _S.WITHDRAWN},
        _S.SUPERSEDED: {},
        _S.WITHDRAWN: {},
        _S.COMMITTED: {},
    }
)
"""The state that each act leaves a revision in; an act that is not there is refused."""

ACT_OF_VERDICT: Final[Mapping[ApprovalVerdict, Act]] = MappingProxyType(
    {
        ApprovalVerdict.APPROVE: Act.APPROVE,
        ApprovalVerdict.REJECT: Act.REJECT,
        ApprovalVerdict.REQUEST_CHANGES: Act.REQUEST_CHANGES,
        ApprovalVerdict.REVOKE: Act.REVOKE_APPROVAL,
    }
)
"""What each decision of a person does. One that adopts what policy allowed moves nothing."""

COMMITTABLE: Final = frozenset(state for state, acts in TRANSITIONS.items() if Act.COMMIT in acts)
"""In which states a revision may be decided on by policy, issued for and committed."""

UNEXPIRING: Final = frozenset(state for state, acts in TRANSITIONS.items() if Act.EXPIRE not in acts)
"""What has ended stays as it ended, however late it is."""

_REFUSALS: Final[Mapping[ProposalState, Refusal]] = MappingProxyType(
    {
        _S.SUPERSEDED: Refusal(Reason.NOT_VALIDATED, {"problem": "a newer revision superseded it"}),
        _S.WITHDRAWN: Refusal(Reason.NOT_VALIDATED, {"problem": "it was withdrawn"}),
        _S.EXPIRED: Refusal(Reason.EXPIRED, {"field": "proposal"}),
    }
)
_TURNED_DOWN: Final = Refusal(Reason.NOT_VALIDATED, {"problem": "a person turned it down"})


def state_at(state: ProposalState, expire_time: Instant | None, now: Instant) -> ProposalState:
    """The state now of a revision that is stored in `state`: EXPIRED once its time has come, unless it ended before."""
    is_over = expire_time is not None and now >= expire_time
    return ProposalState.EXPIRED if is_over and state not in UNEXPIRING else state


def proposal_state_at(proposal: StoredProposal, now: Instant) -> ProposalState:
    """The state now of a revision as it was read."""
    return state_at(proposal.state, proposal.revision.expire_time, now)


def judge_act(
    state: ProposalState, act: Act, *, turned_down: bool = False, receipt_id: str = ""
) -> ProposalState | Refusal:
    """The state that the act leaves a revision in, which is in `state` now.

    `turned_down` says that a person's last word was against it: validating it again undoes that never. Refusals:
    NOT_VALIDATED, EXPIRED `proposal`, and ALREADY_COMMITTED with `receipt_id`.
    """
    if turned_down and act in _VALIDATING and state not in UNEXPIRING | {ProposalState.EXPIRED}:
        return _TURNED_DOWN
    if act in TRANSITIONS[state]:
        return TRANSITIONS[state][act]
    return refusal_of(state, receipt_id)


def refusal_of(state: ProposalState, receipt_id: str = "") -> Refusal:
    """Why what a state does not allow is refused."""
    if state is ProposalState.COMMITTED:
        return Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": receipt_id})
    return _REFUSALS.get(state, Refusal(Reason.NOT_VALIDATED))
