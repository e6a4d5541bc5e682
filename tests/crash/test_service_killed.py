"""kill -9 of the service before the call, inside it, and after COMMIT before the reply; then the same key again.

In each the client asks again by itself, with the same key, until the restarted service answers.
"""

import asyncio

import pytest

from capability_authority.client import BindingMismatch, Committed, IdempotencyConflict
from tests.crash.conftest import Site
from tests.installation.gates import gate
from tests.installation.leases import has_lease
from tests.installation.processes import ServiceProcess, eventually
from tests.installation.proxy import COMMIT
from tests.installation.team import Ready, Team, refused


async def _assert_settled(site: Site, team: Team, ready: Ready, first: Committed, receipts: int) -> None:
    """One more receipt than before, which is what the caller has, and what every retry gets."""
    assert site.storage.assert_whole().receipts == receipts + 1
    stored = "select payload from authority.commit_receipt where idempotency_key = %s and tenant = %s"
    assert site.storage.one(stored, ready.key, str(team.tenant.ref)) == first.receipt.statement.payload
    again = await team.commit(ready)
    assert (again.replayed, again.receipt.statement) == (True, first.receipt.statement)


async def test_a06_killed_before_the_call_reaches_the_database(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given a commit whose lease is taken in Redis and whose call is on its way to the database
    ready, before = await doomed_team.ready(), site.storage.assert_whole().receipts
    site.proxy.hold_requests(COMMIT)
    running = asyncio.create_task(doomed_team.commit(ready))
    await eventually(lambda: site.proxy.held_requests > 0, "the call is on its way")
    await eventually(lambda: has_lease(site.installation.redis_url, ready), "the lease is taken")
    # When the service is killed, and the call never arrives
    await doomed.kill()
    site.proxy.cut(COMMIT)
    await site.proxy.let_pass()
    assert site.storage.assert_whole().receipts == before
    # Then after a restart it is committed by the retry, never "already used" by what was not written
    await site.processes.again(doomed)
    first = await running
    assert not first.replayed
    await _assert_settled(site, doomed_team, ready, first, before)


INSIDE = [("commit_receipt", "insert"), ("outbox", "insert"), ("proposal_head", "update")]


@pytest.mark.parametrize(("table", "event"), INSIDE)
async def test_f10_killed_inside_the_call_that_goes_on_to_commit(
    site: Site, doomed: ServiceProcess, doomed_team: Team, table: str, event: str
) -> None:
    # Given a commit that stands still inside the database
    ready, before = await doomed_team.ready(), site.storage.assert_whole().receipts
    with gate(site.installation.admin_url, table, event) as closed:
        running = asyncio.create_task(doomed_team.commit(ready))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        # When the service is killed, and the database goes on with what it was sent
        await doomed.kill()
        assert site.storage.counts().receipts == before
        closed.open()
        await eventually(lambda: site.storage.counts().receipts == before + 1, "the commit lands")
    # Then after a restart the retry is answered with what has landed
    await site.processes.again(doomed)
    first = await running
    assert first.replayed
    await _assert_settled(site, doomed_team, ready, first, before)


async def test_a15_killed_inside_the_call_that_is_undone(
    site: Site, doomed: ServiceProcess, doomed_team: Team, survivors: Team
) -> None:
    # Given a commit that stands still inside the database
    ready, before = await doomed_team.ready(), site.storage.assert_whole().receipts
    with gate(site.installation.admin_url, "memory_record") as closed:
        running = asyncio.create_task(doomed_team.commit(ready))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        await eventually(lambda: has_lease(site.installation.redis_url, ready), "the lease is taken")
        # When the service and the database's process are killed
        await doomed.kill()
        closed.break_off()
    assert site.storage.assert_whole().receipts == before
    # Then a retry at another process commits at once, though the lease of the dead one is still there
    assert has_lease(site.installation.redis_url, ready)
    first = await survivors.commit(ready)
    assert not first.replayed
    # And the caller that never gave up gets the same
    await site.processes.again(doomed)
    assert (await running).receipt.statement == first.receipt.statement
    await _assert_settled(site, doomed_team, ready, first, before)


async def test_f10_killed_after_the_commit_before_the_reply(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given a commit that is durable while its reply is on its way back
    ready, before = await doomed_team.ready(), site.storage.assert_whole().receipts
    site.proxy.hold_replies(COMMIT)
    running = asyncio.create_task(doomed_team.commit(ready))
    await eventually(lambda: site.storage.counts().receipts == before + 1, "the commit is durable")
    assert not running.done()
    # When the service is killed
    await doomed.kill()
    site.proxy.cut(COMMIT)
    await site.proxy.let_pass()
    # Then after a restart the retry is answered with what was committed
    await site.processes.again(doomed)
    first = await running
    assert first.replayed
    await _assert_settled(site, doomed_team, ready, first, before)


async def test_a15_a_worker_that_wakes_up_late_adds_no_second_row(
    site: Site, doomed: ServiceProcess, doomed_team: Team, survivors: Team
) -> None:
    # Given a process that stands still, its call on the way to the database
    ready, before = await doomed_team.ready(), site.storage.assert_whole().receipts
    site.proxy.hold_requests(COMMIT)
    running = asyncio.create_task(doomed_team.commit(ready))
    await eventually(lambda: site.proxy.held_requests > 0, "the call is on its way")
    await doomed.pause()
    # When the same key is committed by another process, and then the first one goes on
    first = await survivors.commit(ready)
    assert not first.replayed
    doomed.resume()
    await site.proxy.let_pass()
    # Then its caller gets the other one's receipt
    late = await running
    assert (late.replayed, late.receipt.statement) == (True, first.receipt.statement)
    await _assert_settled(site, survivors, ready, first, before)


async def test_a15_a18_a_dead_workers_lease_holds_its_key_no_longer_than_its_time(
    site: Site, doomed: ServiceProcess, doomed_team: Team, survivors: Team
) -> None:
    # Given a process that was killed while its lease was in Redis
    ready, before = await doomed_team.ready(), site.storage.assert_whole().receipts
    site.proxy.hold_requests(COMMIT)
    running = asyncio.create_task(doomed_team.commit(ready))
    await eventually(lambda: site.proxy.held_requests > 0, "the call is on its way")
    await eventually(lambda: has_lease(site.installation.redis_url, ready), "the lease is taken")
    await doomed.kill()
    running.cancel()
    site.proxy.cut(COMMIT)
    await site.proxy.let_pass()
    # When other content comes under its key, then it conflicts at first
    await refused(survivors.commit(ready, content=b"Another text."), IdempotencyConflict)
    # And once the lease has expired it is judged by what it is
    await eventually(lambda: not has_lease(site.installation.redis_url, ready), "the lease expires")
    await refused(survivors.commit(ready, content=b"Another text."), BindingMismatch)
    # And the key still works for its own content
    first = await survivors.commit(ready)
    assert not first.replayed
    await _assert_settled(site, survivors, ready, first, before)
