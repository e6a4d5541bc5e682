"""kill -9 of the service inside a revocation, and after its COMMIT before the reply; then the same request again."""

import asyncio

from capability_authority.client import Revocation, Revoked
from tests.crash.conftest import Site
from tests.installation.gates import gate
from tests.installation.processes import ServiceProcess, eventually
from tests.installation.proxy import ISSUE
from tests.installation.team import Ready, Team, refused


def _revocations(site: Site, ready: Ready) -> list[tuple[str, str]]:
    """What the audit log tells of the capability's: the states before and after."""
    return site.storage.ask(
        "select previous_state, next_state from authority.audit_event"
        " where kind = 'capability.revoke' and subject = %s",
        ready.capability.capability_id,
    )


async def test_f10_killed_inside_a_revocation_that_is_undone(
    site: Site, doomed: ServiceProcess, doomed_team: Team, survivors: Team
) -> None:
    # Given a revocation that stands still in its transaction, and another capability
    ready, other = await doomed_team.ready(), await doomed_team.ready()
    with gate(site.installation.admin_url, "audit_event") as closed:
        running = asyncio.create_task(doomed_team.service.revoke(ready.capability))
        await eventually(lambda: len(closed.waiting()) == 1, "the revocation is inside the database")
        # When the service is killed before it could commit
        await doomed.kill()
        closed.open()
    # Then nothing is revoked, and nobody waits for its lock
    assert not (await survivors.commit(other)).replayed
    assert _revocations(site, ready) == []
    # And the caller, who asked again by itself, is answered once there is a service
    await site.processes.again(doomed)
    assert not (await running).replayed
    assert _revocations(site, ready) == [("issued", "revoked")]
    await refused(survivors.commit(ready), Revoked)
    site.storage.assert_whole()


async def test_f10_killed_after_the_commit_of_a_revocation_before_the_reply(
    site: Site, doomed: ServiceProcess, doomed_team: Team, survivors: Team
) -> None:
    # Given a revocation that is durable while its reply is on its way back
    ready = await doomed_team.ready()
    with gate(site.installation.admin_url, "audit_event", at_commit=True) as closed:
        running = asyncio.create_task(doomed_team.service.revoke(ready.capability, request_id="r1"))
        await eventually(lambda: len(closed.waiting()) == 1, "the revocation is about to commit")
        site.proxy.hold_replies(ISSUE)
        closed.open()
        await eventually(lambda: _revocations(site, ready) == [("issued", "revoked")], "the revocation is durable")
    assert not running.done()
    # When the service is killed
    await doomed.kill()
    site.proxy.cut(ISSUE)
    await site.proxy.let_pass()
    # Then it holds already, though nobody was told of it
    await refused(survivors.commit(ready), Revoked)
    # And the caller, who asked again by itself, is told when that was
    await site.processes.again(doomed)
    revocation = await running
    assert revocation.replayed
    assert await survivors.service.revoke(ready.capability, request_id="r1") == Revocation(
        revocation.revoke_time, replayed=True
    )
    assert _revocations(site, ready) == [("issued", "revoked")]
    site.storage.assert_whole()
