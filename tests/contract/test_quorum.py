"""Approvals of several persons, for one holder, for so many decisions: what every store keeps to (semantics §7)."""

import asyncio

import pytest

from authority.domain.decision import ApprovalVerdict, DecisionOutcome
from authority.domain.identity import PrincipalKind, Right
from authority.domain.proposal import ProposalState
from authority.domain.reasons import Reason
from authority.domain.references import HOUR, MINUTE, after
from authority.domain.refusal import Refusal
from tests.world.granting import Granting
from tests.world.identities import link
from tests.world.reviewing import TWO_PERSONS, Asked, Review, decide_many, named
from tests.world.world import PERMIT_ALL, Person, World, all_are, must, reason_of

ALLOW, ASKS = DecisionOutcome.ALLOW, DecisionOutcome.REQUIRE_APPROVAL
REJECT, REVOKE = ApprovalVerdict.REJECT, ApprovalVerdict.REVOKE


@pytest.fixture
async def carol(world: World) -> Person:
    return await world.register(PrincipalKind.USER, "carol")


async def test_two_persons_must_approve_and_the_receipt_names_both(world: World, carol: Person) -> None:
    # given policy that wants two persons, when one approves, twice, then it still asks, and says for how many
    review = await Review.begin(world)
    await review.approved(world.user, world.user)
    receipt = (await review.judged()).receipt
    assert (receipt.outcome, receipt.persons_needed, receipt.approval_references) == (ASKS, 2, ())

    # when others do, too, then it allows, and rests on as many as it wanted, the newest, one of each person
    newest = await review.approved(world.admin, carol)
    receipt = (await review.judged()).receipt
    assert (receipt.outcome, receipt.persons_needed, named(receipt)) == (ALLOW, 2, set(newest))
    assert must(await world.commit(await review.issued())).replayed is False


async def test_i16_two_principals_of_one_person_are_one(world: World, carol: Person) -> None:
    # given approvals of two principals that are linked over a third, then one person has approved
    review = await Review.begin(world)
    between = await world.register(PrincipalKind.USER, "between")
    await link(world, world.user, between)
    await link(world, between, carol)
    await review.approved(world.user, carol)
    decision = await review.judged()
    assert (decision.receipt.outcome, decision.receipt.approval_references) == (ASKS, ())
    # and nothing is issued on that
    refused = await world.issue(review.ground(decision), "key")
    assert reason_of(refused) is Reason.APPROVAL_REQUIRED
    # until another one does
    await review.approved(world.admin)
    assert await review.outcome() is ALLOW


async def test_i16_a_link_verified_before_the_commit_makes_two_approvals_one(world: World, carol: Person) -> None:
    # given a capability on two approvals, whose persons turn out to be one before it is used
    review = await Review.begin(world)
    await review.approved(world.user, carol)
    issued = await review.issued()
    await link(world, world.user, carol)
    # then it is refused, and so for good: another person has to approve, and policy to decide again
    assert reason_of(await world.commit(issued)) is Reason.APPROVAL_REQUIRED
    await review.approved(world.admin)
    assert reason_of(await world.commit(issued)) is Reason.APPROVAL_REQUIRED
    assert must(await world.commit(await review.issued())).replayed is False


async def test_i16_whoever_turns_out_to_be_the_proposer_has_not_approved(world: World) -> None:
    # given an approval by somebody who is linked with the proposer afterwards
    review = await Review.begin(world, by=world.user)
    other = await world.register(PrincipalKind.USER, "other-name")
    await review.approved(other, world.admin)
    issued = await review.issued()
    await link(world, world.user, other)
    # then it counts neither for the commit nor for policy, and no other is taken
    assert reason_of(await world.commit(issued)) is Reason.APPROVAL_REQUIRED
    assert await review.outcome() is ASKS
    assert reason_of(await review.decide(other)) is Reason.NOT_ALLOWED
    assert await world.counts() == all_are(0)


@pytest.mark.parametrize("theirs", ["subject", "actor"])
async def test_i16_whose_own_matter_it_is_under_a_grant_has_not_approved(
    world: World, carol: Person, theirs: str
) -> None:
    # given a proposal of the agent's, under a grant whose subject and whose first holder are persons who may decide
    subject, actor = [await world.register(PrincipalKind.USER, name) for name in ("subject", "actor")]
    granting = Granting(world)
    terms = {"actions": ("memory.propose",), "write_memory_namespaces": ("walled",)}
    root = await granting.issued(actor, subject=subject.ref, **terms)
    grant = await granting.exchanged(root, world.agent)
    await world.make_namespace("walled", TWO_PERSONS)
    proposal = await world.proposed(by=world.agent, memory_namespace="walled", grant=grant.presented)
    review = Review(world, proposal, must(await world.validate(proposal)).signed)
    # then neither decides on it, and two others do
    own = subject if theirs == "subject" else actor
    assert reason_of(await review.decide(own)) is Reason.NOT_ALLOWED
    await review.approved(world.admin, carol)
    issued = await review.issued()
    # and one who turns out to be one person with either has not approved: not for policy, nor for the commit
    await link(world, carol, own)
    assert await review.outcome() is ASKS
    assert reason_of(await world.commit(issued)) is Reason.APPROVAL_REQUIRED
    assert await world.counts() == all_are(0)


@pytest.mark.parametrize("lost", ["expired", "rejected", "revoked", "principal", "first"])
async def test_i11_every_approval_that_a_decision_names_is_read_again(world: World, carol: Person, lost: str) -> None:
    # given a capability on two approvals, one of which the capability itself does not name
    review = await Review.begin(world)
    persons = [world.user, carol]
    for person in persons:
        must(await review.decide(person, expire_time=after(world.now(), HOUR if person is carol else MINUTE)))
    issued = await review.issued()
    # when either is lost
    if lost == "expired":
        world.authority.clock.advance(MINUTE)
    elif lost in ("rejected", "revoked"):
        must(await review.decide(world.admin, REJECT if lost == "rejected" else REVOKE))
    else:
        gone = persons[0] if lost == "first" else persons[1]
        await world.authority.store.administration.revoke_principal(world.tenant, gone.ref, world.now())
    # then nothing is committed
    wanted = Reason.NOT_VALIDATED if lost == "rejected" else Reason.APPROVAL_REQUIRED
    assert reason_of(await world.commit(issued)) is wanted
    assert await world.counts() == all_are(0)


async def test_whoever_decides_no_more_counts_no_more(world: World, carol: Person) -> None:
    review = await Review.begin(world)
    await review.approved(world.user, carol)
    assert await review.outcome() is ALLOW
    await world.authority.store.administration.revoke_principal(world.tenant, carol.ref, world.now())
    assert await review.outcome() is ASKS


async def test_an_approval_for_a_holder_is_for_nobody_else(world: World, carol: Person) -> None:
    # given an approval for one service, then another asks in vain
    review = await Review.begin(world)
    other = await world.register(PrincipalKind.SERVICE, "other-service")
    await review.approved(world.user)
    must(await review.decide(carol, holder=world.service.ref))
    assert (await review.outcome(world.service), await review.outcome(other)) == (ALLOW, ASKS)
    assert must(await world.commit(await review.issued())).replayed is False


async def test_an_approval_is_used_as_often_as_it_says(world: World, carol: Person) -> None:
    # given an approval for two decisions, and one without a number
    review = await Review.begin(world)
    await review.approved(world.user)
    must(await review.decide(carol, max_uses=2))
    # then two decisions rest on it, the same request as often as it is asked, and the third does not
    first = await review.judged(request_id="r")
    assert await review.judged(request_id="r") == first
    second = await review.judged()
    assert (first.receipt.outcome, second.receipt.outcome, await review.outcome()) == (ALLOW, ALLOW, ASKS)
    # and what rests on a use that was spent is committed
    assert must(await world.commit(await review.issued(first))).replayed is False


async def test_of_many_decisions_at_once_no_more_rest_on_an_approval_than_it_says(world: World, carol: Person) -> None:
    review = await Review.begin(world)
    await review.approved(world.user)
    must(await review.decide(carol, max_uses=3))
    outcomes = await asyncio.gather(*(review.outcome() for _ in range(10)))
    assert sorted(it.value for it in outcomes) == ["allow"] * 3 + ["require_approval"] * 7


async def test_two_persons_who_approve_at_once_both_count(world: World, carol: Person) -> None:
    review = await Review.begin(world)
    answers = await asyncio.gather(review.decide(world.user), review.decide(carol), review.decide(world.admin))
    references = {must(answer).reference for answer in answers}
    receipt = (await review.judged()).receipt
    assert (receipt.outcome, len(named(receipt)), named(receipt) <= references) == (ALLOW, 2, True)


async def test_only_persons_decide_and_nobody_on_their_own(world: World) -> None:
    # given whoever had a part in a proposal, or is no person, then they decide nothing, and nothing is kept
    review = await Review.begin(world, PERMIT_ALL, by=world.user)
    everything = frozenset(Right)
    machine = await world.register(PrincipalKind.SERVICE, "machine", everything)
    bot = await world.register(PrincipalKind.AGENT, "bot", everything - {Right.ISSUE, Right.COMMIT})
    for person in (world.user, machine, bot):
        for verdict in ApprovalVerdict:
            assert reason_of(await review.decide(person, verdict)) is Reason.NOT_ALLOWED
    # and asked for many, who may decide at all is refused for each, who may not for all
    [own] = must(await decide_many(world, world.user, [review.request(world.user, REJECT)]))
    assert reason_of(own) is Reason.NOT_ALLOWED
    assert reason_of(await decide_many(world, machine, [review.request(machine, REJECT)])) is Reason.NOT_ALLOWED
    found = await world.authority.store.proposals.get(world.tenant, review.proposal.revision.proposal_id, 1)
    assert found is not None
    assert found.state is ProposalState.VALIDATED


async def test_many_decisions_are_answered_as_if_asked_one_after_the_other(world: World, carol: Person) -> None:
    # given decisions on two proposals, one of them twice, and one of a bad shape
    one, other = await Review.begin(world), await Review.begin(world)
    misshapen = Refusal(Reason.MALFORMED, {"field": "verdict"})
    approve = ApprovalVerdict.APPROVE
    asked: list[Asked] = [
        one.request(carol, approve),
        misshapen,
        other.request(carol, REJECT, note="no"),
        other.request(carol, approve),
        one.request(carol, approve),
    ]
    answers = must(await decide_many(world, carol, asked, "r"))
    states = [it.state.value if not isinstance(it, Refusal) else it.reason.name for it in answers]
    assert states == ["approved", "MALFORMED", "rejected", "NOT_VALIDATED", "approved"]

    # when the request comes again, then each is answered as it was, and nothing is decided anew
    again = must(await decide_many(world, carol, asked, "r"))
    assert again == answers
    # and its id stands for it alone, whether for many or for one
    assert reason_of(await decide_many(world, carol, asked[:1], "r")) is Reason.IDEMPOTENCY_CONFLICT
    assert reason_of(await one.decide(carol, request_id="r")) is Reason.IDEMPOTENCY_CONFLICT
    must(await one.decide(carol, request_id="s"))
    assert reason_of(await decide_many(world, carol, asked, "s")) is Reason.IDEMPOTENCY_CONFLICT
