"""The state machine of a proposal revision: every act in every state, allowed or refused."""

import pytest

from authority.domain.decision import ApprovalVerdict
from authority.domain.proposal import ProposalState
from authority.domain.proposal_states import (
    ACT_OF_VERDICT,
    COMMITTABLE,
    TRANSITIONS,
    UNEXPIRING,
    Act,
    judge_act,
    refusal_of,
    state_at,
)
from authority.domain.reasons import Reason
from authority.domain.references import Instant
from authority.domain.refusal import Refusal

TABLE = """
state             | start_validating pass      fail     approve  reject   request_changes   revoke_approval
proposed          | validating       validated rejected -        -        -                 -
validating        | validating       validated rejected -        rejected changes_requested -
validated         | validating       validated rejected approved rejected changes_requested validated
approved          | validating       validated rejected approved rejected changes_requested validated
rejected          | validating       validated rejected -        rejected changes_requested -
changes_requested | -                -         -        -        rejected changes_requested -
expired           | -                -         -        -        -        -                 -
superseded        | -                -         -        -        -        -                 -
withdrawn         | -                -         -        -        -        -                 -
committed         | -                -         -        -        -        -                 -

state             | supersede  commit    withdraw  expire
proposed          | superseded -         withdrawn expired
validating        | superseded -         withdrawn expired
validated         | superseded committed withdrawn expired
approved          | superseded committed withdrawn expired
rejected          | superseded -         withdrawn expired
changes_requested | superseded -         withdrawn expired
expired           | superseded -         withdrawn -
superseded        | -          -         -         -
withdrawn         | -          -         -         -
committed         | -          -         -         -
"""
"""Every act in every state, written a second time: what it leaves, or `-` where it is refused."""


def rows() -> dict[tuple[ProposalState, Act], ProposalState | None]:
    """The table as it is written above."""
    found: dict[tuple[ProposalState, Act], ProposalState | None] = {}
    acts: list[Act] = []
    for line in filter(None, TABLE.splitlines()):
        state, _, cells = line.partition("|")
        if state.strip() == "state":
            acts = [Act(word) for word in cells.split()]
            continue
        for act, cell in zip(acts, cells.split(), strict=True):
            found[ProposalState(state.strip()), act] = None if cell == "-" else ProposalState(cell)
    return found


ALL = rows()
ALLOWED = {key: after for key, after in ALL.items() if after}
FORBIDDEN = [key for key, after in ALL.items() if after is None]
WHY = {
    ProposalState.COMMITTED: Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": "r1"}),
    ProposalState.SUPERSEDED: Refusal(Reason.NOT_VALIDATED, {"problem": "a newer revision superseded it"}),
    ProposalState.WITHDRAWN: Refusal(Reason.NOT_VALIDATED, {"problem": "it was withdrawn"}),
    ProposalState.EXPIRED: Refusal(Reason.EXPIRED, {"field": "proposal"}),
}


def named(key: tuple[ProposalState, Act]) -> str:
    return f"{key[0].value}-{key[1].value}"


def test_every_act_in_every_state_has_its_cell() -> None:
    assert ALL.keys() == {(state, act) for state in ProposalState for act in Act}
    assert TRANSITIONS.keys() == set(ProposalState)


@pytest.mark.parametrize("key", ALLOWED, ids=named)
def test_an_allowed_act_leaves_its_state(key: tuple[ProposalState, Act]) -> None:
    assert judge_act(*key, receipt_id="r1") is ALLOWED[key]


@pytest.mark.parametrize("key", FORBIDDEN, ids=named)
def test_a_forbidden_act_is_refused_with_why(key: tuple[ProposalState, Act]) -> None:
    assert judge_act(*key, receipt_id="r1") == WHY.get(key[0], Refusal(Reason.NOT_VALIDATED))


@pytest.mark.parametrize("state", ProposalState)
@pytest.mark.parametrize("act", [Act.START_VALIDATING, Act.PASS, Act.FAIL])
def test_no_validation_undoes_what_a_person_decided(state: ProposalState, act: Act) -> None:
    # given a revision on which a person's last word was no, then no validator has another, and an end stays what it is
    judged = judge_act(state, act, turned_down=True, receipt_id="r1")
    assert judged == WHY.get(state, Refusal(Reason.NOT_VALIDATED, {"problem": "a person turned it down"}))


@pytest.mark.parametrize("state", ProposalState)
def test_what_has_not_ended_expires_when_its_time_has_come_and_not_before(state: ProposalState) -> None:
    time = Instant(1_000)
    ended = {ProposalState.COMMITTED, ProposalState.WITHDRAWN, ProposalState.SUPERSEDED, ProposalState.EXPIRED}
    expected = state if state in ended else ProposalState.EXPIRED

    assert [state_at(state, time, Instant(now)) for now in (0, 999, 1_000, 2_000)] == [state] * 2 + [expected] * 2
    assert state_at(state, None, Instant(10**15)) is state, "kept before proposals expired"


def test_what_may_be_committed_and_what_has_ended() -> None:
    assert {ProposalState.VALIDATED, ProposalState.APPROVED} == COMMITTABLE
    assert not COMMITTABLE & UNEXPIRING
    # Whoever adopts what policy allowed leaves the state as it is.
    assert ACT_OF_VERDICT.keys() == set(ApprovalVerdict) - {ApprovalVerdict.ADOPT}
    assert {refusal_of(state).reason for state in COMMITTABLE} == {Reason.NOT_VALIDATED}
