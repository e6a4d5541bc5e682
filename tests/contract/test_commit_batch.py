"""Many commits in one call: an outcome of its own for each, in order, whatever becomes of the others."""

from dataclasses import replace

from authority.domain.capability import Presentation
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal, malformed
from authority.usecases.commit import CommitAnswer
from tests.world.world import Issued, World, all_are, must, reason_of


class WithOtherEvidence(Issued):
    """Presented with evidence that was never bound."""

    @property
    def presentation(self) -> Presentation:
        return replace(super().presentation, evidence_digests=(b"x" * 32,))


async def test_each_item_has_its_outcome_in_order(world: World) -> None:
    # given good items, one settled before, one of changed content and one whose shape was refused
    first, settled, changed, last = [await world.issued() for _ in range(4)]
    before = must(await world.commit(settled))
    spoilt = WithOtherEvidence(changed.ground, changed.capability, changed.holder)
    shape = malformed("presentation.content", "empty")
    # when they are committed together
    answers = must(await world.commit_batch([first, settled, spoilt, shape, last]))
    # then each is answered as it would be alone
    assert isinstance(answers[0], CommitAnswer)
    assert not answers[0].replayed
    assert isinstance(answers[1], CommitAnswer)
    assert answers[1].replayed
    assert answers[1].receipt == before.receipt
    assert answers[2] == Refusal(Reason.BINDING_MISMATCH, {"term": "evidence_digests"})
    assert answers[3] == shape
    assert isinstance(answers[4], CommitAnswer)
    assert await world.counts() == all_are(3)
    assert not must(await world.commit(changed)).replayed


async def test_i17_twins_in_a_batch_are_answered_as_if_one_came_after_the_other(world: World) -> None:
    # given the same item twice, and two capabilities of one proposal
    twin = await world.issued()
    ground = await world.allowed()
    lower, upper = [await world.issued_on(ground, key=key) for key in ("lower", "upper")]
    answers = must(await world.commit_batch([twin, twin, lower, upper]))
    # then the first of each is committed; its twin replays, and the other capability comes too late
    assert [isinstance(answer, CommitAnswer) for answer in answers] == [True, True, True, False]
    assert isinstance(answers[0], CommitAnswer)
    assert isinstance(answers[1], CommitAnswer)
    assert (answers[0].replayed, answers[1].replayed) == (False, True)
    assert answers[0].receipt == answers[1].receipt
    assert reason_of(answers[3]) is Reason.ALREADY_COMMITTED
    assert await world.counts() == all_are(2)


async def test_items_of_another_holder_are_refused_alone(world: World) -> None:
    own, other = await world.issued(), await (await world.neighbour()).issued()
    answers = must(await world.commit_batch([other, own]))
    assert answers[0] == Refusal(Reason.HOLDER_MISMATCH)
    assert isinstance(answers[1], CommitAnswer)


async def test_a_caller_that_may_not_commit_fails_the_whole(world: World) -> None:
    issued = await world.issued()
    assert reason_of(await world.commit_batch([issued], by=world.agent)) is Reason.NOT_ALLOWED
    assert await world.counts() == all_are(0)


async def test_five_hundred_and_twelve_go_in_one_call(world: World) -> None:
    many = [await world.issued() for _ in range(64)]
    answers = must(await world.commit_batch(many * 8))
    assert all(isinstance(answer, CommitAnswer) for answer in answers)
    assert sum(isinstance(answer, CommitAnswer) and not answer.replayed for answer in answers) == 64
    assert await world.counts() == all_are(64)


async def test_i17_the_same_item_five_hundred_and_twelve_times_has_one_receipt(world: World) -> None:
    answers = must(await world.commit_batch([await world.issued()] * 512))
    committed = [answer for answer in answers if isinstance(answer, CommitAnswer)]
    assert [answer.replayed for answer in committed] == [False] + [True] * 511
    assert len({answer.receipt for answer in committed}) == 1
    assert await world.counts() == all_are(1)
