"""kill -9 of the service amid the revocation of a record, and amid the commit of a correction; then the same again."""

import asyncio

from capability_authority.client import Committed, NotFound, NotValidated, Revoked
from tests.crash.conftest import Site
from tests.installation.gates import gate
from tests.installation.processes import ServiceProcess, eventually
from tests.installation.proxy import ISSUE
from tests.installation.team import Ready, Team, refused


def _events(site: Site, committed: Committed) -> list[str]:
    """The types of the record's events, in their order."""
    rows = site.storage.ask(
        "select type from authority.outbox where aggregateid = %s order by sequence", committed.record_id
    )
    return [row[0] for row in rows]


async def _correcting(team: Team, committed: Committed) -> Ready:
    return await team.issue(await team.allowed(await team.user.correct(committed, content="It is otherwise.")))


async def test_f10_g07_killed_after_the_commit_of_a_records_revocation_before_the_reply(
    site: Site, doomed: ServiceProcess, doomed_team: Team, survivors: Team
) -> None:
    # Given a record, a capability for the same, and a revocation that is durable while its reply is on its way back
    first, late = [await doomed_team.issue(await doomed_team.ground("It was said twice.")) for _ in range(2)]
    committed = await doomed_team.commit(first)
    with gate(site.installation.admin_url, "tombstone", at_commit=True) as closed:
        running = asyncio.create_task(doomed_team.admin.revoke_record(committed, request_id="r1"))
        await eventually(lambda: len(closed.waiting()) == 1, "the revocation is about to commit")
        site.proxy.hold_replies(ISSUE)
        closed.open()
        await eventually(lambda: len(_events(site, committed)) == 2, "the revocation is durable")
    assert not running.done()
    # When the service is killed
    await doomed.kill()
    site.proxy.cut(ISSUE)
    await site.proxy.let_pass()
    # Then it holds already, though nobody was told of it
    await refused(survivors.commit(late), Revoked)
    await refused(survivors.user.get_record(committed.record_id), NotFound)
    # And the caller, who asked again by itself, is told when that was; it happened once
    await site.processes.again(doomed)
    revoked = await running
    assert revoked.replayed
    again = await survivors.admin.revoke_record(committed, request_id="r1")
    assert (again.sequence, again.revoke_time) == (revoked.sequence, revoked.revoke_time)
    assert _events(site, committed) == ["memory.committed.v1", "memory.revoked.v1"]
    site.storage.assert_whole()


async def test_f10_killed_inside_a_records_revocation_that_is_undone(
    site: Site, doomed: ServiceProcess, doomed_team: Team, survivors: Team
) -> None:
    # Given a revocation that has written its events, and stands still in its transaction
    committed = await doomed_team.commit(await doomed_team.ready())
    with gate(site.installation.admin_url, "tombstone") as closed:
        running = asyncio.create_task(doomed_team.admin.revoke_record(committed))
        await eventually(lambda: len(closed.waiting()) == 1, "the revocation is inside the database")
        # When the service is killed before it could commit
        await doomed.kill()
        closed.open()
    # Then nothing is revoked, and nobody waits for its lock
    assert (await survivors.user.get_record(committed.record_id)).record_id == committed.record_id
    assert not (await survivors.commit(await survivors.ready())).replayed
    assert _events(site, committed) == ["memory.committed.v1"]
    # And the caller, who asked again by itself, is answered once there is a service
    await site.processes.again(doomed)
    assert not (await running).replayed
    assert _events(site, committed) == ["memory.committed.v1", "memory.revoked.v1"]
    site.storage.assert_whole()


async def test_f10_killed_inside_the_commit_of_a_correction(
    site: Site, doomed: ServiceProcess, doomed_team: Team, survivors: Team
) -> None:
    # Given the commit of a correction that stands still where it marks the record, and another correction
    old = await doomed_team.commit(await doomed_team.ready())
    ready, rival = await _correcting(doomed_team, old), await _correcting(doomed_team, old)
    with gate(site.installation.admin_url, "memory_record", "update") as closed:
        running = asyncio.create_task(doomed_team.commit(ready))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        # When the service and the database's process are killed
        await doomed.kill()
        closed.break_off()
    # Then nothing of it is there: the record is read, and the other correction can have its place
    assert (await survivors.user.get_record(old.record_id)).record_id == old.record_id
    won = await survivors.commit(rival)
    assert _events(site, old) == ["memory.committed.v1", "memory.corrected.v1"]
    # And the caller that never gave up hears that it came too late
    await site.processes.again(doomed)
    await refused(running, NotValidated)
    assert (await survivors.user.get_record(won.record_id)).supersedes_record_id == old.record_id
    site.storage.assert_whole()
