"""The port `Activations`: what policy allowed without a person is final once one adopts it (semantics §7, seed 002)."""

import asyncio
from dataclasses import dataclass, replace

import pytest

from authority.domain.audit import AuditFilter
from authority.domain.decision import AUTO_APPROVED, ApprovalVerdict, DeciderKind
from authority.domain.history import RecordState
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.reasons import Reason
from authority.policy.bundle import bundle_version
from authority.usecases.decide_proposal import DecideProposal
from authority.usecases.export_record import ExportForm
from tests.world.reviewing import TWO_PERSONS, Review
from tests.world.world import PERMIT_ALL, World, must, reason_of

ADOPT, REVOKE = ApprovalVerdict.ADOPT, ApprovalVerdict.REVOKE


async def committed(world: World, bundle: str = PERMIT_ALL) -> tuple[Review, str]:
    """A record that policy allowed; where it asked for persons, they approved."""
    review = await Review.begin(world, bundle)
    if bundle is TWO_PERSONS:
        await review.approved(world.user, world.admin)
    answer = must(await world.commit(await review.issued()))
    return review, answer.receipt.record_id


async def state_of(world: World, record_id: str) -> RecordState:
    """Where the record stands, by its export."""
    export = must(await world.authority.do.export_record(world.admin.calls(), record_id, ExportForm.AUDIT))
    return export.state


async def test_what_policy_allowed_without_a_person_says_so_wherever_it_is_told(world: World) -> None:
    # given a record that no person was asked about
    review, record_id = await committed(world)
    # then its export and the audit log tell which policies of which version allowed it
    export = must(await world.authority.do.export_record(world.admin.calls(), record_id, ExportForm.AUDIT))
    assert export.trail
    [told] = export.trail.trail.approvals
    assert (told.decided_by, told.decided_by_kind, told.determining_policies) == (
        None,
        DeciderKind.SYSTEM_POLICY,
        ("permit-all",),
    )
    assert told.policy_version == bundle_version(PERMIT_ALL)
    # and so does the proposal
    found = must(await world.authority.do.get_proposal(world.user.calls(), review.proposal.revision.proposal_id, 0))
    assert found.decisions == (told,)
    events = await world.authority.store.audit_log.page(
        world.tenant, AuditFilter(kind="policy.decide"), oldest_first=True, after="", size=10
    )
    assert [it.event.next_state for it in events] == [AUTO_APPROVED]


async def test_an_adopted_activation_is_final(world: World) -> None:
    # given a record that policy allowed, when a person adopts it, twice even, then nobody takes it back so
    review, record_id = await committed(world)
    must(await review.decide(world.admin, ADOPT))
    must(await review.decide(world.user, ADOPT))
    refused = await review.decide(world.user, REVOKE)
    assert reason_of(refused) is Reason.ALREADY_COMMITTED
    assert await state_of(world, record_id) is RecordState.LIVE


async def test_g07_taking_back_an_activation_takes_its_record_back_for_ever(world: World) -> None:
    # given a record that policy allowed, when a person takes that back, then the record is revoked in the same breath
    review, record_id = await committed(world)
    answer = must(await review.decide(world.admin, REVOKE, "r", note="not so"))
    assert answer.state.value == "committed"
    assert await state_of(world, record_id) is RecordState.REVOKED
    # the same request again is answered as it was, another finds it done, and nobody adopts what is gone
    assert must(await review.decide(world.admin, REVOKE, "r", note="not so")) == answer
    assert reason_of(await review.decide(world.user, REVOKE)) is Reason.REVOKED
    assert reason_of(await review.decide(world.user, ADOPT)) is Reason.REVOKED


@dataclass(frozen=True, slots=True)
class AsItWas:
    """Proposals as they were read before they were committed."""

    proposal: StoredProposal

    async def get(self, *_key: object) -> StoredProposal:
        return self.proposal


def looking_before(world: World, review: Review) -> DecideProposal:
    """DecideProposal by somebody who looked at the proposal when it was not committed yet."""
    then = AsItWas(replace(review.proposal, state=ProposalState.VALIDATED))
    return replace(world.authority.do.decide_proposal, proposals=then)  # type: ignore[arg-type] # asked for no more


async def test_g07_what_is_committed_while_a_person_takes_it_back_is_taken_back_too(world: World) -> None:
    # given a person who looked before the commit, and whose decision comes after it
    review, record_id = await committed(world)
    late = looking_before(world, review)
    # when they take back what policy allowed, then its record is revoked as well
    answer = must(await late(world.admin.calls(), review.request(world.admin, REVOKE)))
    assert answer.state is ProposalState.COMMITTED
    assert await state_of(world, record_id) is RecordState.REVOKED
    # and whoever would turn it down is told that it was committed
    review, record_id = await committed(world)
    against = review.request(world.admin, ApprovalVerdict.REJECT)
    refused = await looking_before(world, review)(world.admin.calls(), against)
    assert reason_of(refused) is Reason.ALREADY_COMMITTED
    assert await state_of(world, record_id) is RecordState.LIVE


async def test_what_persons_approved_is_no_activation(world: World) -> None:
    review, record_id = await committed(world, TWO_PERSONS)
    assert reason_of(await review.decide(world.admin, REVOKE)) is Reason.ALREADY_COMMITTED
    assert reason_of(await review.decide(world.admin, ADOPT)) is Reason.NOT_FOUND
    assert await state_of(world, record_id) is RecordState.LIVE


async def test_what_persons_approved_after_policy_had_allowed_it_is_no_activation(world: World) -> None:
    # given a proposal that policy allowed by itself, and then, under another bundle, as two persons approved it
    review = await Review.begin(world, PERMIT_ALL)
    await review.judged()
    name, version = review.proposal.revision.memory_namespace, await world.load(TWO_PERSONS)
    await world.authority.store.administration.activate_policy(world.tenant, name, version, world.now())
    await review.approved(world.user, world.admin)
    answer = must(await world.commit(await review.issued()))
    # then what is committed rests on them, and nobody takes it back as if policy alone had said so
    assert reason_of(await review.decide(world.admin, REVOKE)) is Reason.ALREADY_COMMITTED
    assert reason_of(await review.decide(world.admin, ADOPT)) is Reason.NOT_FOUND
    assert await state_of(world, answer.receipt.record_id) is RecordState.LIVE


async def test_an_activation_is_adopted_before_its_commit_too_and_counts_towards_no_quorum(world: World) -> None:
    # given a proposal that policy allows by itself, adopted before it is committed
    review = await Review.begin(world, PERMIT_ALL)
    assert reason_of(await review.decide(world.admin, ADOPT)) is Reason.NOT_FOUND
    decision = await review.judged()
    adopted = must(await review.decide(world.admin, ADOPT))
    assert adopted.state.value == "validated"
    must(await world.commit(await review.issued(decision)))
    assert reason_of(await review.decide(world.user, REVOKE)) is Reason.ALREADY_COMMITTED
    # and where persons are asked for, neither policy's word nor an adoption is one of them
    asking = await Review.begin(world)
    await asking.approved(world.user)
    assert reason_of(await asking.decide(world.admin, ADOPT)) is Reason.NOT_FOUND
    assert (await asking.judged()).receipt.approval_references == ()


async def test_nobody_adopts_or_takes_back_what_is_their_own_or_another_revision(world: World) -> None:
    review = await Review.begin(world, PERMIT_ALL, by=world.user)
    must(await world.commit(await review.issued()))
    assert reason_of(await review.decide(world.user, ADOPT)) is Reason.NOT_ALLOWED
    assert reason_of(await review.decide(world.user, REVOKE)) is Reason.NOT_ALLOWED
    older = await Review.begin(world, PERMIT_ALL)
    await older.judged()
    revision = older.proposal.revision
    await world.proposed(by=world.agent, proposal_id=revision.proposal_id, memory_namespace=revision.memory_namespace)
    assert reason_of(await older.decide(world.admin, ADOPT)) is Reason.NOT_VALIDATED
    neighbour = await world.neighbour()
    assert reason_of(await Review(neighbour, review.proposal, review.validation).decide(neighbour.admin, ADOPT)) is (
        Reason.NOT_FOUND
    )


@pytest.mark.parametrize("first", [ADOPT, REVOKE])
async def test_i11_of_adopting_and_taking_back_at_once_one_comes_first(world: World, first: ApprovalVerdict) -> None:
    # given many records that policy allowed, each of which one adopts and another takes back at once
    second = REVOKE if first is ADOPT else ADOPT
    for _ in range(4):
        review, record_id = await committed(world)
        answers = await asyncio.gather(review.decide(world.admin, first), review.decide(world.user, second))
        by = dict(zip((first, second), answers, strict=True))
        # then either it was adopted and stays, or it was taken back and is not adopted
        taken = reason_of(by[REVOKE]) is None
        assert reason_of(by[ADOPT]) is (Reason.REVOKED if taken else None)
        assert reason_of(by[REVOKE]) is (None if taken else Reason.ALREADY_COMMITTED)
        assert await state_of(world, record_id) is (RecordState.REVOKED if taken else RecordState.LIVE)
