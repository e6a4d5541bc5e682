"""What was withdrawn after a capability was issued is seen by the commit: live state is read again inside it."""

from authority.domain.references import PrincipalRef
from authority.policy.bundle import bundle_version, default_bundle
from capability_authority.client import ApprovalRequired, CallerUnauthenticated, PolicyDenied
from tests.installation.installation import NAMESPACE, Installation, Tenant
from tests.installation.storage import Storage
from tests.installation.team import Team, refused

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
