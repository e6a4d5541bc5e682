"""Withdrawals and commits exclude each other: none is acknowledged while a commit that ignored it can still land."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress

import asyncpg
import pytest

from authority.domain.decision import ApprovalVerdict
from authority.domain.identity import PrincipalKind
from authority.domain.plan import CommitOutcome, CommitPlan, Committed
from authority.domain.reasons import Reason
from authority.domain.record import Mode
from authority.domain.refusal import Refusal
from authority.policy.bundle import default_bundle
from tests.integration.postgres.superuser import Superuser, are_waiting, gate, until
from tests.world.identities import link
from tests.world.world import NAMESPACE, PERMIT_ALL, WITHIN_S, Issued, World, all_are, must, reason_of, soon

Withdrawal = Callable[[World, Issued], Coroutine[None, None, None]]


async def revoke_holder(world: World, issued: Issued) -> None:
    await world.authority.store.administration.revoke_principal(world.tenant, issued.holder.ref, world.now())


async def revoke_holder_key(world: World, issued: Issued) -> None:
    await world.authority.store.administration.revoke_principal_key(world.tenant, issued.holder.key_id, world.now())


async def change_policy(world: World, issued: Issued) -> None:
    version = await world.load(PERMIT_ALL)
    await world.authority.store.administration.activate_policy(world.tenant, NAMESPACE, version, world.now())


async def revoke_capability(world: World, issued: Issued) -> None:
    must(await world.revoke(issued))


async def revoke_issuer_key(world: World, issued: Issued) -> None:
    key_id = issued.capability.statement.key_id
    await world.authority.store.administration.revoke_issuer_key(key_id, None, world.now())


async def revoke_approval(world: World, issued: Issued) -> None:
    must(await world.approve(issued.ground.proposal, ApprovalVerdict.REVOKE))


async def reject(world: World, issued: Issued) -> None:
    must(await world.approve(issued.ground.proposal, ApprovalVerdict.REJECT))


async def supersede(world: World, issued: Issued) -> None:
    must(await world.propose(by=world.agent, proposal_id=issued.ground.revision.proposal_id))


async def link_two(world: World, issued: Issued) -> None:
    await link(world, world.user, world.admin)


async def unlink_two(world: World, issued: Issued) -> None:
    await world.authority.store.principal_links.revoke(world.tenant, world.user.ref, world.admin.ref, world.now())


async def take_name_back(world: World, issued: Issued) -> None:
    await world.authority.store.key_aliases.revoke(world.tenant, "k1", world.now())


async def set_mode(world: World, issued: Issued) -> None:
    await world.authority.store.administration.set_mode(world.tenant, NAMESPACE, Mode.OBSERVE, world.now())


WITHDRAWALS: dict[str, tuple[Withdrawal, Reason]] = {
    "holder": (revoke_holder, Reason.REVOKED),
    "holder key": (revoke_holder_key, Reason.KEY_REVOKED),
    "capability": (revoke_capability, Reason.REVOKED),
    "policy": (change_policy, Reason.POLICY_DENIED),
    "issuer key": (revoke_issuer_key, Reason.KEY_REVOKED),
    "approval": (revoke_approval, Reason.APPROVAL_REQUIRED),
    "revision, by a person": (reject, Reason.NOT_VALIDATED),
}
CHANGES = ["mode", "link", "link revoked", "name of a key"]
LOCKS = {"issuer key": "authority.global_lock()"}
"""An issuer key is withdrawn in all tenants at once, everything else in one."""


@pytest.mark.parametrize(("withdraw", "reason"), WITHDRAWALS.values(), ids=WITHDRAWALS)
async def test_a_withdrawal_waits_for_the_commit_that_runs(
    world: World, superuser: Superuser, withdraw: Withdrawal, reason: Reason
) -> None:
    # given a commit in the middle of its writing
    issued, other = await world.issued(by=world.agent), await world.issued(by=world.agent)
    async with gate(superuser) as closed:
        commit = asyncio.create_task(world.carry_out(world.plan(issued)))
        await closed.reached()

        # when what it rests on is withdrawn, then that waits until the commit has landed
        withdrawal = asyncio.create_task(withdraw(world, other))
        await until(lambda: are_waiting(superuser, 2))
        assert not withdrawal.done()
        await closed.open()
        await withdrawal
        assert await world.counts() == all_are(1), "acknowledged before the commit had landed"
        assert isinstance(await commit, Committed)

    # and the next commit sees it
    assert reason_of(await world.carry_out(world.plan(other))) is reason


@pytest.mark.parametrize("name", WITHDRAWALS)
async def test_a_commit_during_a_withdrawal_waits_and_then_sees_it(
    world: World, superuser: Superuser, name: str
) -> None:
    # given a withdrawal that has its lock and has not read yet
    withdraw, reason = WITHDRAWALS[name]
    settled, _ = await world.committed()
    issued = await world.issued(by=world.agent)
    lock = LOCKS.get(name, f"authority.tenant_lock('{world.tenant}')")
    transaction = superuser.transaction()
    await transaction.start()
    await superuser.execute(f"select pg_advisory_xact_lock({lock})")

    # when a commit comes, then it waits as long as its caller does, and is told that it runs
    assert await world.carry_out(world.plan(issued), within_s=0.3) == Refusal(Reason.IN_PROGRESS)

    # and a replay is answered meanwhile
    assert must(await world.commit(settled, within_s=0.3)).replayed

    # and one that waits longer sees what was withdrawn
    commit = asyncio.create_task(world.carry_out(world.plan(issued)))
    withdrawal = asyncio.create_task(withdraw(world, issued))
    await until(lambda: are_waiting(superuser))
    await transaction.rollback()
    await withdrawal
    assert reason_of(await commit) is reason
    assert await world.counts() == all_are(1)


async def test_a_commit_does_not_get_in_front_of_a_withdrawal_that_waits(world: World, superuser: Superuser) -> None:
    # given a withdrawal that waits for a commit that runs
    issued, other = await world.issued(), await world.issued()
    async with gate(superuser) as closed:
        first = asyncio.create_task(world.carry_out(world.plan(issued)))
        await closed.reached()
        withdrawal = asyncio.create_task(revoke_holder(world, other))
        await until(lambda: are_waiting(superuser, 2))

        # when another commit comes, then it does not share the lock before the withdrawal had it
        second = asyncio.create_task(world.carry_out(world.plan(other)))
        await closed.open()
        await asyncio.gather(first, withdrawal)
        assert reason_of(await second) is Reason.REVOKED
    assert await world.counts() == all_are(1)


@pytest.mark.parametrize("change_it", [set_mode, link_two, unlink_two, take_name_back], ids=CHANGES)
async def test_i11_what_no_commit_reads_itself_excludes_commits_too(
    world: World, superuser: Superuser, change_it: Withdrawal
) -> None:
    # given the mode of a memory namespace, who is one person, and what a key is called: decisions and proofs rest on it
    issued = await world.issued()
    if change_it is unlink_two:
        await link_two(world, issued)
    await world.authority.store.key_aliases.add(world.tenant, "k1", world.service.key_id, world.now())
    async with gate(superuser) as closed:
        commit = asyncio.create_task(world.carry_out(world.plan(issued)))
        await closed.reached()
        change = asyncio.create_task(change_it(world, issued))
        await until(lambda: are_waiting(superuser, 2))
        await closed.open()
        await change
        assert await world.counts() == all_are(1)
        await commit


async def test_a_neighbours_commit_does_not_wait(world: World, superuser: Superuser) -> None:
    # given a withdrawal in one tenant, then another one commits meanwhile
    neighbour = await world.neighbour()
    theirs = await neighbour.issued()
    async with superuser.transaction():
        await superuser.execute(f"select pg_advisory_xact_lock(authority.tenant_lock('{world.tenant}'))")
        assert isinstance(await neighbour.carry_out(neighbour.plan(theirs)), Committed)


@pytest.mark.parametrize(
    "name", ["holder", "holder key", "capability", "approval", "revision, by a person", "superseding"]
)
async def test_i11_nothing_lands_after_a_withdrawal_was_acknowledged(world: World, name: str) -> None:
    # given commits and withdrawals of what they rest on, which race
    withdraw = supersede if name == "superseding" else WITHDRAWALS[name][0]
    landed = 0
    for run in range(40):
        holder = await world.register(PrincipalKind.SERVICE, f"holder-{run}")
        issued = await world.issued(by=world.agent, holder=holder)
        seen_after, outcome = await race(world, issued, withdraw, head_start=run % 20 - 15)

        # then what landed was there for a read begun after the acknowledgement; and nothing else ever appears
        there = await world.authority.store.receipts.by_key(
            world.tenant, holder.ref, issued.presentation.commit_idempotency_key
        )
        assert (there is not None) == seen_after == isinstance(outcome, Committed)
        landed += seen_after
    assert await world.counts() == all_are(landed)


async def test_what_is_revoked_cannot_be_consumed_whatever_function_tries(world: World, superuser: Superuser) -> None:
    issued = await world.issued()
    must(await world.revoke(issued))
    with pytest.raises(asyncpg.CheckViolationError, match="capability_revoked_has_time"):
        await superuser.execute(
            "update authority.capability set state = 'consumed', receipt_id = gen_random_uuid()"
            " where tenant = $1 and capability_id = $2",
            str(world.tenant),
            issued.capability.terms.capability_id,
        )


@pytest.mark.parametrize("name", ["holder", "holder key", "policy", "one capability"])
async def test_i11_nothing_of_a_batch_lands_after_a_withdrawal_was_acknowledged(world: World, name: str) -> None:
    # given batches and withdrawals of what they rest on, which race
    landed = 0
    for run in range(20):
        holder = await world.register(PrincipalKind.SERVICE, f"holder-{run}")
        batch = [await world.issued(holder=holder) for _ in range(4)]
        plans = [world.plan(issued) for issued in batch]
        withdraw = revoke_capability if name == "one capability" else WITHDRAWALS[name][0]
        head_start = run % 20 - 15

        async def withdraws(batch: list[Issued] = batch, turn: int = head_start) -> set[str]:
            await turns(turn)
            with suppress(AssertionError):  # It may come too late: the capability is consumed.
                await withdraw(world, batch[2])  # noqa: B023 - the same in every run
            return await receipts_of(world, batch)

        async def commits(plans: list[CommitPlan] = plans, turn: int = head_start) -> list[CommitOutcome | Exception]:
            await turns(-turn)
            return await world.authority.store.committer.commit_together(plans, soon(WITHIN_S))

        seen_after, outcomes = await asyncio.gather(withdraws(), commits())

        # then what landed of what was withdrawn was there for a read begun after the acknowledgement, and stays alone
        there = {outcome.receipt.receipt_id for outcome in outcomes if isinstance(outcome, Committed)}
        assert there == await receipts_of(world, batch)
        withdrawn = [outcomes[2]] if name == "one capability" else outcomes
        assert {it.receipt.receipt_id for it in withdrawn if isinstance(it, Committed)} <= seen_after
        landed += len(there)
        if name == "policy":
            version = await world.load(default_bundle())
            await world.authority.store.administration.activate_policy(world.tenant, NAMESPACE, version, world.now())
    assert await world.counts() == all_are(landed)


async def receipts_of(world: World, batch: list[Issued]) -> set[str]:
    """Of those that were committed."""
    receipts = world.authority.store.receipts
    found = [await receipts.by_key(world.tenant, it.holder.ref, it.presentation.commit_idempotency_key) for it in batch]
    return {receipt.receipt_id for receipt in found if receipt}


async def race(world: World, issued: Issued, withdraw: Withdrawal, *, head_start: int) -> tuple[bool, object]:
    """Whether a read begun after the withdrawal's acknowledgement saw the commit, and what the commit came to.

    The commit begins so many turns of the loop before the withdrawal, or after it when that is negative.
    """

    async def withdraws() -> bool:
        await turns(head_start)
        with suppress(AssertionError):  # It may come too late: the proposal is committed.
            await withdraw(world, issued)
        key = issued.presentation.commit_idempotency_key
        found = await world.authority.store.receipts.by_key(world.tenant, issued.holder.ref, key)
        return found is not None

    async def commits() -> object:
        await turns(-head_start)
        return await world.carry_out(plan)

    plan = world.plan(issued)
    seen_after, outcome = await asyncio.gather(withdraws(), commits())
    return seen_after, outcome


async def turns(number: int) -> None:
    """Lets the loop turn so many times."""
    for _ in range(number):
        await asyncio.sleep(0)
