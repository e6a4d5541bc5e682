"""Which approvals count, and of how many persons (semantics §7, case I16)."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from authority.domain.decision import (
    Approval,
    ApprovalVerdict,
    Decider,
    DeciderKind,
    DecisionOutcome,
    PolicyAnswer,
)
from authority.domain.identity import Principal, PrincipalKind, Right, possible_rights
from authority.domain.quorum import Electorate, unless_taken_back
from authority.domain.references import DAY, Instant, PrincipalRef
from tests.unit.domain.terms import HOLDER, NOW, TENANT

ALICE, BOB, CAROL, PROPOSER = (PrincipalRef("user", name) for name in ("alice", "bob", "carol", "proposer"))
APPROVE, REJECT, CHANGES, REVOKE, ADOPT = ApprovalVerdict
ALLOWED = PolicyAnswer(DecisionOutcome.ALLOW, ("it",))


def decider(ref: PrincipalRef, *linked: PrincipalRef, kind: PrincipalKind = PrincipalKind.USER) -> Decider:
    return Decider(Principal(TENANT, ref, kind, frozenset(Right)), frozenset((ref, *linked)))


def approval(by: PrincipalRef | None = ALICE, verdict: ApprovalVerdict = APPROVE, **changes: object) -> Approval:
    ordinary = Approval(
        reference=f"of-{by.id}" if by else "of-policy",
        tenant=TENANT,
        proposal_id="p",
        proposal_revision=1,
        proposal_digest=b"p",
        validation_receipt_digest=b"v",
        verdict=verdict,
        decided_by=by,
        decided_by_kind=DeciderKind.USER if by else DeciderKind.SYSTEM_POLICY,
        note="",
        decide_time=NOW,
        expire_time=Instant(NOW + DAY),
    )
    return replace(ordinary, **changes)  # type: ignore[arg-type]  # each test names a field with its own type


def standing(
    *approvals: Approval, deciders: Mapping[PrincipalRef, Decider] | None = None, after_ms: int = 0
) -> list[PrincipalRef | None]:
    """Who approved so that it counts, the newest first; a day from now nothing does."""
    known = {ref: decider(ref) for ref in (ALICE, BOB, CAROL, PROPOSER)} | dict(deciders or {})
    electorate = Electorate(known, frozenset((PROPOSER,)), b"v", HOLDER, Instant(NOW + after_ms))
    return [it.decided_by for it in electorate.standing(approvals)]


def test_i16_each_person_counts_once_with_the_newest_approval() -> None:
    older, newer = approval(ALICE), approval(ALICE, reference="newer")
    assert standing(older, approval(BOB), newer) == [ALICE, BOB]
    linked = {ALICE: decider(ALICE, CAROL, BOB), BOB: decider(BOB, ALICE, CAROL)}
    assert standing(approval(ALICE), approval(BOB), deciders=linked) == [BOB]


def test_i16_whose_own_matter_it_is_counts_never_nor_whoever_is_one_person_with_them() -> None:
    assert standing(approval(PROPOSER)) == []
    assert standing(approval(ALICE), deciders={ALICE: decider(ALICE, PROPOSER)}) == []


def test_an_approval_counts_until_it_expires_on_the_validation_it_looked_at_and_for_its_holder() -> None:
    assert standing(approval(), after_ms=DAY - 1) == [ALICE]
    assert standing(approval(), after_ms=DAY) == []
    assert standing(approval(validation_receipt_digest=b"another")) == []
    assert standing(approval(holder=HOLDER)) == [ALICE]
    assert standing(approval(holder=ALICE)) == []
    assert standing(approval(max_uses=1, is_used_up=True)) == []


def test_what_policy_said_counts_never() -> None:
    assert standing(approval(None)) == []
    assert standing(approval(None), approval(ALICE)) == [ALICE]


@pytest.mark.parametrize(
    "lost",
    [
        Decider(None, frozenset((ALICE,))),
        Decider(Principal(TENANT, ALICE, PrincipalKind.USER, frozenset({Right.READ})), frozenset((ALICE,))),
        decider(ALICE, kind=PrincipalKind.SERVICE),
        decider(ALICE, kind=PrincipalKind.AGENT),
    ],
)
def test_whoever_may_decide_no_more_counts_no_more(lost: Decider) -> None:
    assert standing(approval(ALICE), approval(BOB), deciders={ALICE: lost}) == [BOB]
    assert possible_rights(PrincipalKind.SERVICE) >= {Right.ISSUE}


@pytest.mark.parametrize("verdict", list(ApprovalVerdict))
def test_a_decision_against_takes_every_earlier_approval_back_of_everybody(verdict: ApprovalVerdict) -> None:
    last = approval(CAROL, verdict)
    takes_back = verdict in (REJECT, CHANGES, REVOKE)
    assert verdict.is_against is takes_back
    found = standing(approval(ALICE), approval(BOB), last)
    assert set(found) - {CAROL} == (set() if takes_back else {ALICE, BOB})
    assert standing(last, approval(ALICE))[:1] == [ALICE]


def test_after_a_person_took_it_back_policy_alone_allows_it_no_more() -> None:
    back = approval(ALICE, REVOKE)
    asked = PolicyAnswer(DecisionOutcome.REQUIRE_APPROVAL, ("person:of-alice",), 1)
    assert unless_taken_back(ALLOWED, (approval(None), back)) == asked
    assert unless_taken_back(ALLOWED, (back, approval(BOB, ADOPT))) == asked
    assert unless_taken_back(ALLOWED, (back, approval(BOB))) == asked
    assert unless_taken_back(ALLOWED, (approval(BOB, REJECT), approval(None))) == ALLOWED
    assert unless_taken_back(ALLOWED, ()) == ALLOWED
    denied = PolicyAnswer(DecisionOutcome.DENY, ("no",))
    assert unless_taken_back(denied, (back,)) == denied
