"""The port `Approvals`: what every store keeps to."""

from dataclasses import replace

import pytest

from authority.domain.decision import Approval, ApprovalVerdict, DeciderKind, DecisionFacts
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.reasons import Reason
from authority.domain.references import DAY, MINUTE, after
from authority.domain.refusal import Refusal
from authority.usecases.ports import Approvals
from tests.world.reviewing import Review
from tests.world.world import World, must, reason_of

APPROVE, REJECT, CHANGES, REVOKE, ADOPT = ApprovalVerdict

MOVES = """
from               verdict          to
proposed           approve          refused
proposed           reject           refused
validated          approve          approved
validated          reject           rejected
validated          request_changes  changes_requested
validated          revoke           validated
approved           approve          approved
approved           reject           rejected
approved           request_changes  changes_requested
approved           revoke           validated
rejected           approve          refused
rejected           reject           rejected
rejected           request_changes  changes_requested
rejected           revoke           refused
changes_requested  approve          refused
changes_requested  reject           rejected
changes_requested  revoke           refused
"""
"""Nothing that a person turned down comes back but as a new revision."""

WAYS: dict[str, tuple[ApprovalVerdict, ...]] = {
    "validated": (),
    "approved": (APPROVE,),
    "rejected": (REJECT,),
    "changes_requested": (CHANGES,),
}
"""What persons decide for a validated revision to come into a state."""


@pytest.fixture
def approvals(world: World) -> Approvals:
    return world.authority.store.approvals


async def in_state(world: World, state: str) -> StoredProposal:
    """A proposal in that state."""
    proposal = await (world.proposed() if state == "proposed" else world.validated())
    for verdict in WAYS.get(state, ()):
        must(await world.approve(proposal, verdict))
    return proposal


async def now(world: World, proposal: StoredProposal) -> StoredProposal:
    """The proposal as it stands."""
    found = await world.authority.store.proposals.get(world.tenant, proposal.revision.proposal_id, 1)
    assert found
    return found


async def decided(world: World, proposal: StoredProposal) -> tuple[Approval, ...]:
    """What persons decided on it, as policy sees it."""
    seen: list[DecisionFacts] = []

    def look(facts: DecisionFacts, _sequence: int) -> Refusal:
        seen.append(facts)
        return Refusal(Reason.POLICY_DENIED)

    mark = world.mark(world.service, None)
    await world.authority.store.decisions.decide(mark, proposal.revision.proposal_id, 1, world.service.ref, look)
    return seen[0].approvals


@pytest.mark.parametrize(("before", "verdict", "to"), [line.split() for line in MOVES.strip().splitlines()[1:]])
async def test_decisions_move_a_revision(world: World, before: str, verdict: str, to: str) -> None:
    proposal = await in_state(world, before)
    answer = await world.approve(proposal, ApprovalVerdict(verdict))
    if to == "refused":
        assert reason_of(answer) is Reason.NOT_VALIDATED
    else:
        assert must(answer).state is ProposalState(to)
    assert (await now(world, proposal)).state.value == (before if to == "refused" else to)


async def test_a_decision_is_kept_with_everything_that_it_binds(world: World) -> None:
    # given two decisions of two persons, the second after another validation
    proposal = await world.proposed(by=world.agent)
    first_validation = must(await world.validate(proposal)).signed
    first = must(await world.approve(proposal, by=world.user, expire_time=after(world.now(), DAY)))
    second_validation = must(await world.validate(proposal)).signed
    world.authority.clock.advance(1)
    second = must(await world.approve(proposal, REJECT))

    # then policy sees both in their order, each on the newest validation of its time
    assert await decided(world, proposal) == (
        Approval(
            reference=first.reference,
            tenant=world.tenant,
            proposal_id=proposal.revision.proposal_id,
            proposal_revision=1,
            proposal_digest=proposal.digest,
            validation_receipt_digest=first_validation.digest,
            verdict=APPROVE,
            decided_by=world.user.ref,
            decided_by_kind=DeciderKind.USER,
            note="",
            decide_time=after(world.now(), -1),
            expire_time=after(world.now(), DAY - 1),
        ),
        Approval(
            reference=second.reference,
            tenant=world.tenant,
            proposal_id=proposal.revision.proposal_id,
            proposal_revision=1,
            proposal_digest=proposal.digest,
            validation_receipt_digest=second_validation.digest,
            verdict=REJECT,
            decided_by=world.admin.ref,
            decided_by_kind=DeciderKind.ADMIN,
            note="",
            decide_time=world.now(),
            expire_time=after(world.now(), 30 * DAY),
        ),
    )


async def test_g13_a_decision_is_on_the_very_revision_that_was_looked_at(world: World) -> None:
    # given a person who looked at something else than what is there, whatever they decide, then nothing is decided
    review = await Review.begin(world)
    for verdict in (APPROVE, REJECT, CHANGES, REVOKE):
        other = replace(review.request(world.admin, verdict), proposal_digest=bytes(32))
        refused = await world.authority.do.decide_proposal(world.admin.calls(), other)
        assert refused == Refusal(Reason.BINDING_MISMATCH, {"term": "proposal_digest"})
    assert await decided(world, review.proposal) == ()
    assert (await now(world, review.proposal)).state is ProposalState.VALIDATED


async def test_e12_an_approval_is_for_a_time_to_come_of_at_most_30_days(world: World) -> None:
    # given times on both sides of either edge, then one that is now is over, and one beyond 30 days is too far away
    proposal, last = await world.validated(), 30 * DAY
    for lasting in (-1, 0, last + 1):
        refused = await world.approve(proposal, expire_time=after(world.now(), lasting))
        assert reason_of(refused) is Reason.MALFORMED
    assert await decided(world, proposal) == ()
    for lasting in (1, last):
        must(await world.approve(proposal, expire_time=after(world.now(), lasting)))
    kept = [it.expire_time for it in await decided(world, proposal)]
    assert kept == [after(world.now(), 1), after(world.now(), last)]


async def test_a_request_id_is_answered_with_its_first_decision(world: World) -> None:
    proposal = await world.validated()
    first = must(await world.approve(proposal, request_id="r"))
    must(await world.approve(proposal, REVOKE))
    assert must(await world.approve(proposal, request_id="r")) == first
    assert (await now(world, proposal)).state is ProposalState.VALIDATED
    assert len(await decided(world, proposal)) == 2


async def test_a17_a_retry_after_its_expiry_is_answered_with_the_first_decision(world: World) -> None:
    # Given a decision that counted for a minute, which is over
    proposal = await world.validated()
    first = must(await world.approve(proposal, request_id="r", expire_time=after(world.now(), MINUTE)))
    expire_time = after(world.now(), MINUTE)
    world.authority.clock.advance(2 * MINUTE)
    # Then the same request again gets its answer, another under its id is a conflict, and a new one comes too late
    assert must(await world.approve(proposal, request_id="r", expire_time=expire_time)) == first
    conflict = await world.approve(proposal, REJECT, request_id="r", expire_time=expire_time)
    assert reason_of(conflict) is Reason.IDEMPOTENCY_CONFLICT
    late = await world.approve(proposal, request_id="s", expire_time=expire_time)
    assert late == Refusal(
        Reason.MALFORMED, {"field": "expire_time", "problem": "must lie in the future, at most 30 days away"}
    )
    assert len(await decided(world, proposal)) == 1
    # And its id is as free as before
    must(await world.approve(proposal, request_id="s"))


async def test_a_request_id_used_for_another_request_is_a_conflict(world: World) -> None:
    proposal = await world.validated()
    must(await world.approve(proposal, request_id="r"))
    refused = await world.approve(proposal, REJECT, request_id="r")
    assert refused == Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"})
    assert (await now(world, proposal)).state is ProposalState.APPROVED


async def test_a_refused_decision_leaves_nothing_behind(world: World) -> None:
    # given a refused approval of what was not validated, then its request id is free and no decision was kept
    proposal = await world.proposed()
    assert reason_of(await world.approve(proposal, request_id="r")) is Reason.NOT_VALIDATED
    must(await world.validate(proposal))
    assert await decided(world, proposal) == ()
    must(await world.approve(proposal, request_id="r"))


async def test_a_superseded_or_committed_revision_is_decided_no_more(world: World) -> None:
    first = await world.validated()
    await world.proposed(proposal_id=first.revision.proposal_id)
    assert reason_of(await world.approve(first)) is Reason.NOT_VALIDATED
    issued, answer = await world.committed()
    refused = await world.approve(issued.ground.proposal, REJECT)
    assert refused == Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": answer.receipt.receipt_id})


async def test_g02_another_tenants_proposal_is_not_there_to_decide(world: World, approvals: Approvals) -> None:
    # given a decision on a neighbour's proposal, when it is kept here, then there is no such proposal
    neighbour = await world.neighbour()
    theirs = await neighbour.validated()
    reference = must(await neighbour.approve(theirs)).reference
    (approval,) = await decided(neighbour, theirs)
    foreign = replace(approval, tenant=world.tenant, decided_by=world.admin.ref, reference=reference)
    refused = await approvals.decide(world.mark(world.admin, None), foreign, ProposalState.APPROVED)
    assert refused == Refusal(Reason.NOT_FOUND)
