"""Revoking a grant excludes commits under it, as every withdrawal does; and what is issued under it meanwhile."""

import asyncio
from collections.abc import Callable, Coroutine

import pytest

from authority.domain.identity import PrincipalKind
from authority.domain.plan import Committed
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.ports import IssuedCapability
from tests.integration.postgres.superuser import Superuser, are_waiting, gate, until
from tests.integration.postgres.test_withdrawals import race, turns
from tests.world.granting import Granted, Granting
from tests.world.world import Issued, World, all_are, must, reason_of

Withdraw = Callable[[Granting, Granted], Coroutine[None, None, None]]
RACES = 20


async def revoke_grant(granting: Granting, granted: Granted) -> None:
    must(await granting.revoke(granted))


async def revoke_root(granting: Granting, granted: Granted) -> None:
    must(await granting.revoke(granted.chain[0].digest))


async def revoke_actor(granting: Granting, granted: Granted) -> None:
    world = granting.world
    await world.authority.store.administration.revoke_principal(
        world.tenant, granted.grant.terms.actor_chain[0], world.now()
    )


WITHDRAWALS: dict[str, Withdraw] = {"grant": revoke_grant, "root": revoke_root, "actor": revoke_actor}


@pytest.fixture
def granting(world: World) -> Granting:
    return Granting(world)


async def handed_on(granting: Granting, number: int = 0) -> Granted:
    """A grant that was handed on offline by somebody of its own."""
    broker = await granting.world.register(PrincipalKind.SERVICE, f"broker-{number}", frozenset())
    return granting.delegated(await granting.issued(broker), broker)


@pytest.mark.parametrize("name", WITHDRAWALS)
async def test_a_withdrawal_waits_for_the_commit_that_runs_and_the_next_one_sees_it(
    granting: Granting, superuser: Superuser, name: str
) -> None:
    # given a commit in the middle of its writing, of a capability under a grant
    world, granted = granting.world, await handed_on(granting)
    issued, other = await granting.issued_under(granted), await granting.issued_under(granted)
    async with gate(superuser) as closed:
        commit = asyncio.create_task(world.carry_out(world.plan(issued)))
        await closed.reached()
        # when the grant, or whoever stands behind it, is withdrawn, then that waits until the commit has landed
        withdrawal = asyncio.create_task(WITHDRAWALS[name](granting, granted))
        await until(lambda: are_waiting(superuser, 2))
        assert not withdrawal.done()
        await closed.open()
        await withdrawal
        assert await world.counts() == all_are(1), "acknowledged before the commit had landed"
        assert isinstance(await commit, Committed)
    # and the next commit sees it
    assert reason_of(await world.carry_out(world.plan(other))) is Reason.REVOKED


@pytest.mark.parametrize("name", ["grant", "root"])
async def test_i11_nothing_lands_after_a_grant_was_revoked(granting: Granting, name: str) -> None:
    # given commits under grants and revocations of them, which race
    world, landed = granting.world, 0
    for run in range(RACES):
        granted = await handed_on(granting, run)
        issued = await granting.issued_under(granted)

        async def withdraw(_: World, __: Issued, granted: Granted = granted) -> None:
            await WITHDRAWALS[name](granting, granted)

        seen_after, outcome = await race(world, issued, withdraw, head_start=run - RACES // 2)
        # then what landed was there for a read begun after the acknowledgement; and nothing else ever appears
        there = await world.authority.store.receipts.by_key(
            world.tenant, issued.holder.ref, issued.presentation.commit_idempotency_key
        )
        assert (there is not None) == seen_after == isinstance(outcome, Committed)
        landed += seen_after
    assert await world.counts() == all_are(landed)


async def test_i11_nothing_is_issued_after_a_grant_was_revoked(granting: Granting) -> None:
    # given requests for capabilities under grants, and revocations of those, which race
    world, issued = granting.world, 0
    for run in range(RACES):
        granted = await handed_on(granting, run)
        grounds = [await world.allowed() for _ in range(3)]

        requests = [
            asyncio.ensure_future(granting.issue_under(granted, ground, f"k{run}-{at}"))
            for at, ground in enumerate(grounds)
        ]
        # Every fourth is revoked once something was issued: which of two at once is first is the machine's matter.
        await (asyncio.wait(requests, return_when=asyncio.FIRST_COMPLETED) if run % 4 == 0 else turns(run // 2))
        await revoke_root(granting, granted)
        spent = must(await granting.get(granted.chain[0].digest)).spent.uses
        outcomes = await asyncio.gather(*requests)
        # then whatever was issued was spent before the acknowledgement, and none of it is committed
        made = [it for it in outcomes if isinstance(it, IssuedCapability)]
        assert len(made) == spent == must(await granting.get(granted.chain[0].digest)).spent.uses
        assert {reason_of(it) for it in outcomes if isinstance(it, Refusal)} <= {Reason.REVOKED}
        for one, ground in zip(outcomes, grounds, strict=True):
            if isinstance(one, IssuedCapability):
                plan = world.plan(Issued(ground, one.capability, world.service))
                assert reason_of(await world.carry_out(plan)) is Reason.REVOKED
        issued += len(made)
    assert await world.counts() == all_are(0)
    assert 0 < issued < 3 * RACES


async def test_a_retry_of_an_offer_whose_answer_was_lost_spends_nothing_again(granting: Granting) -> None:
    # given an offer that was kept, and whose answer nobody heard
    world, granted = granting.world, await handed_on(granting)
    ground = await world.allowed()
    first = must(await granting.issue_under(granted, ground, "k", request_id="r"))
    # when the same is asked once more by another process, then it is found, and one use is spent
    replica = await world.authority.replica()
    elsewhere = Granting(World(replica, world.tenant, world.people, world.numbers))
    again = must(await elsewhere.issue_under(granted, ground, "k", request_id="r"))
    assert (again.capability.digest, again.replayed) == (first.capability.digest, True)
    assert must(await granting.get(granted)).spent.uses == 1
