"""Approvals that are lost while a commit runs: none is acknowledged as lost while what rests on it can still land."""

import asyncio

import pytest

from authority.domain.decision import ApprovalVerdict, DecisionOutcome
from authority.domain.identity import PrincipalKind
from authority.domain.plan import Committed
from authority.domain.reasons import Reason
from tests.integration.postgres.superuser import Superuser, gate
from tests.integration.postgres.test_withdrawals import race
from tests.world.identities import link
from tests.world.reviewing import ONE_PERSON, TWO_PERSONS, Review
from tests.world.world import PERMIT_ALL, Issued, Person, World, all_are, must, reason_of

RACES = 16
LOST = ("taken back", "an approver", "two who are one", "what policy allowed")


async def lose(world: World, name: str, review: Review, persons: list[Person]) -> None:
    """The second approval of two, whom the capability itself does not name, or policy's own word."""
    if name == "an approver":
        await world.authority.store.administration.revoke_principal(world.tenant, persons[0].ref, world.now())
    elif name == "two who are one":
        await link(world, *persons)
    else:
        must(await review.decide(world.admin, ApprovalVerdict.REVOKE))


@pytest.mark.parametrize("name", LOST)
async def test_i11_i16_nothing_lands_after_an_approval_was_lost(world: World, name: str) -> None:
    # given commits on what two persons approved, or policy allowed alone, and losses of that, which race
    landed = 0
    for run in range(RACES):
        review = await Review.begin(world, PERMIT_ALL if name == "what policy allowed" else TWO_PERSONS)
        persons = [await world.register(PrincipalKind.USER, f"person-{run}-{at}") for at in range(2)]
        await review.approved(*persons)
        issued = await review.issued()

        async def withdraw(_: World, __: Issued, review: Review = review, persons: list[Person] = persons) -> None:
            await lose(world, name, review, persons)

        seen_after, outcome = await race(world, issued, withdraw, head_start=run - RACES // 2)
        # then what landed was there for a read begun after the acknowledgement; and nothing else ever appears
        there = await world.authority.store.receipts.by_key(
            world.tenant, issued.holder.ref, issued.presentation.commit_idempotency_key
        )
        assert (there is not None) == seen_after == isinstance(outcome, Committed)
        if not seen_after:
            assert reason_of(outcome) is Reason.APPROVAL_REQUIRED
        landed += seen_after
    assert await world.counts() == all_are(landed)


@pytest.mark.parametrize("change", ["rights = '{read}'", "kind = 'service'", "kind = 'agent'"])
async def test_i11_an_approver_who_may_decide_no_more_has_not_approved(
    world: World, superuser: Superuser, change: str
) -> None:
    # given a capability on a person's approval, when that person is registered anew as one who may not decide
    review = await Review.begin(world, ONE_PERSON)
    await review.approved(world.user)
    issued = await review.issued()
    await superuser.execute(
        f"update authority.principal set {change} where tenant = $1 and principal = $2",  # noqa: S608 - of this file
        str(world.tenant),
        str(world.user.ref),
    )
    # then the commit needs another's approval
    assert reason_of(await world.commit(issued)) is Reason.APPROVAL_REQUIRED
    assert await world.counts() == all_are(0)


async def test_of_two_decisions_at_once_one_uses_an_approval_for_the_last_time(
    world: World, superuser: Superuser
) -> None:
    # given an approval for one decision, and two that both found it unused before either used it
    review = await Review.begin(world, ONE_PERSON)
    must(await review.decide(world.admin, max_uses=1))
    async with gate(superuser, "approval_use") as closed:
        deciding = [asyncio.create_task(review.outcome()) for _ in range(2)]
        await closed.reached(2)
        await closed.open()
        outcomes = await asyncio.gather(*deciding)
    # then one rests on it, and the other asks for another approval
    assert set(outcomes) == {DecisionOutcome.ALLOW, DecisionOutcome.REQUIRE_APPROVAL}
