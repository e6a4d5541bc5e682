"""What was withdrawn after a capability was issued is seen by the commit: live state is read again inside it."""

import asyncio
from contextlib import suppress
from typing import Literal
from uuid import uuid4

import pytest

from authority.domain.references import PrincipalRef
from authority.policy.bundle import bundle_version, default_bundle
from capability_authority.client import (
    AlreadyCommitted,
    ApprovalRequired,
    AuthorityError,
    CallerUnauthenticated,
    Committed,
    NotValidated,
    PolicyDenied,
)
from tests.installation.installation import NAMESPACE, Installation, Tenant
from tests.installation.storage import Storage
from tests.installation.team import Ready, Team, all_of, barrier, refused

OTHER_BUNDLE = default_bundle() + "\n// The same rules, in another version.\n"


async def test_i12_a_policy_changed_after_issue_denies_until_it_is_the_bound_one_again(
    installation: Installation, tenant: Tenant, team: Team, team_elsewhere: Team, storage: Storage
) -> None:
    # Given a capability
    ready = await team.ready()
    async with installation.operator() as operator:
        # When another policy version becomes the active one
        await operator.load_policy(OTHER_BUNDLE)
        act, now = operator.administration.activate_policy, operator.clock.now
        await act(tenant.ref, NAMESPACE, bundle_version(OTHER_BUNDLE), now())
        before = storage.dump()
        # Then no process commits under the old one
        for member in (team, team_elsewhere):
            await refused(member.commit(ready), PolicyDenied)
        assert storage.dump() == before
        # And nothing was burned by the attempt
        await act(tenant.ref, NAMESPACE, bundle_version(default_bundle()), now())
    assert not (await team.commit(ready)).replayed
    storage.assert_whole()


async def test_a_revoked_approval_carries_no_commit(team: Team, team_elsewhere: Team, storage: Storage) -> None:
    # Given a capability that rests on a person's approval
    proposal = await team.agent.propose(memory_namespace=NAMESPACE, memory_type="durable_fact", content="A conclusion.")
    ready = await team.issue(await team.allowed(proposal))
    # When the person takes it back
    await team.admin.decide(proposal, "revoke")
    before = storage.dump()
    # Then no commit that follows uses it
    for member in (team, team_elsewhere):
        await refused(member.commit(ready), ApprovalRequired)
    assert storage.dump() == before
    # And a new approval is another one: it needs a new decision, and a capability of its own
    await team.admin.decide(proposal, "approve")
    await refused(team.commit(ready), ApprovalRequired)
    assert not (await team.commit(await team.issue(await team.allowed(proposal)))).replayed
    storage.assert_whole()


async def test_a_revoked_holder_calls_nothing_any_more(
    installation: Installation, tenant: Tenant, team: Team, team_elsewhere: Team, storage: Storage
) -> None:
    # Given a capability, and a settled commit
    ready, settled = await team.ready(), await team.ready()
    await team.commit(settled)
    # When its holder is revoked
    async with installation.operator() as operator:
        holder = PrincipalRef(*tenant["service"].principal)
        await operator.administration.revoke_principal(tenant.ref, holder, operator.clock.now())
    before = storage.dump()
    # Then no process takes a call of it, not even for what is settled
    for member in (team, team_elsewhere):
        await refused(member.commit(ready), CallerUnauthenticated)
        await refused(member.commit(settled), CallerUnauthenticated)
    assert storage.dump() == before
    storage.assert_whole()


RACES = 40


@pytest.mark.parametrize(("verdict", "reason"), [("revoke", ApprovalRequired), ("reject", NotValidated)])
async def test_i11_nothing_lands_here_after_a_withdrawal_was_acknowledged_elsewhere(
    team: Team,
    team_elsewhere: Team,
    storage: Storage,
    verdict: Literal["revoke", "reject"],
    reason: type[AuthorityError],
) -> None:
    # Given capabilities that rest on a person's approval each
    ready = await all_of(_approved(team) for _ in range(RACES))
    before = storage.assert_whole().receipts

    async def withdraw(one: Ready) -> int:
        """How many receipts a read finds that begins when the withdrawal at the other process is acknowledged."""
        with suppress(AlreadyCommitted):
            await team_elsewhere.admin.decide(one.ground.proposal, verdict)
        return _receipts(storage, one)

    # When all are committed at one process, while a person withdraws the approvals at the other
    seen, outcomes = await asyncio.gather(
        all_of((withdraw(one) for one in ready), at_once=8), barrier(team.commit(one) for one in ready)
    )
    # Then each that landed was there when its withdrawal was acknowledged, and nothing else ever lands
    assert [_receipts(storage, one) for one in ready] == seen == [isinstance(out, Committed) for out in outcomes]
    assert all(isinstance(outcome, Committed | reason) for outcome in outcomes), outcomes
    assert storage.assert_whole().receipts == before + sum(seen)


async def _approved(team: Team) -> Ready:
    content = f"Conclusion {uuid4()}."
    proposal = await team.agent.propose(memory_namespace=NAMESPACE, memory_type="durable_fact", content=content)
    return await team.issue(await team.allowed(proposal))


def _receipts(storage: Storage, ready: Ready) -> int:
    found: int = storage.one(
        "select count(*) from authority.commit_receipt where proposal_id = %s", ready.ground.proposal.proposal_id
    )
    return found
