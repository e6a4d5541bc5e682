"""Whom a withdrawal of a proposal waits for, and what no writer can undo."""

import asyncio

import asyncpg
import pytest

from authority.domain.plan import Committed
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from tests.integration.postgres.superuser import Superuser, are_waiting, gate, until
from tests.world.withdrawing import withdraw
from tests.world.world import World, all_are, must, reason_of


async def test_g07_i11_a_withdrawal_waits_for_the_commit_that_runs_and_is_told_of_it(
    world: World, superuser: Superuser
) -> None:
    # given a commit in the middle of its writing
    issued = await world.issued()
    async with gate(superuser) as closed:
        plan = world.plan(issued)
        commit = asyncio.create_task(world.carry_out(plan))
        await closed.reached()

        # when its proposal is withdrawn, then that waits until the commit has landed
        withdrawal = asyncio.create_task(withdraw(world, issued.ground.proposal))
        await until(lambda: are_waiting(superuser, 2))
        assert not withdrawal.done()
        await closed.open()
        assert isinstance(await commit, Committed)

    # and is told so
    assert await withdrawal == Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": plan.receipt_id})
    assert await world.counts() == all_are(1)


async def test_g07_i11_no_commit_lands_beside_a_withdrawal_that_runs(world: World, superuser: Superuser) -> None:
    # given a withdrawal in the middle of its writing
    issued = await world.issued()
    async with gate(superuser, "audit_event") as closed:
        withdrawal = asyncio.create_task(withdraw(world, issued.ground.proposal))
        await closed.reached()

        # when the capability is presented, then nothing is answered before the withdrawal is
        commit = asyncio.create_task(world.commit(issued))
        await asyncio.wait([commit], timeout=0.3)
        assert not commit.done()
        await closed.open()
        must(await withdrawal)

    # and then it is refused
    assert reason_of(await commit) is Reason.NOT_VALIDATED
    assert await world.counts() == all_are(0)


@pytest.mark.parametrize(
    "change", ["state = 'validated', withdraw_time = null", "current_revision = 2", "state = 'proposed'"]
)
async def test_what_was_withdrawn_or_committed_stays_so_whoever_writes(
    world: World, superuser: Superuser, change: str
) -> None:
    # given a withdrawn proposal and a committed one, when anybody moves them, be it the database's owner, then it fails
    withdrawn, (issued, _) = await world.validated(), await world.committed()
    must(await withdraw(world, withdrawn))
    for proposal in (withdrawn, issued.ground.proposal):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="stays so"):
            await superuser.execute(
                f"update authority.proposal_head set {change} where tenant = $1 and proposal_id = $2",  # noqa: S608 - ours
                str(world.tenant),
                proposal.revision.proposal_id,
            )
