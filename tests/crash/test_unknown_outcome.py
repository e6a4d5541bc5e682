"""The service lives, but hears nothing of what it asked the database, or its caller hears nothing of it.

The service finds out by itself: the same plan goes to the same function again on another connection (semantics §5).
"""

import asyncio

import pytest

from capability_authority.client import Committed, DeadlineExceeded, InProgress
from tests.crash.conftest import Site
from tests.installation.gates import gate
from tests.installation.processes import ServiceProcess, eventually
from tests.installation.proxy import COMMIT
from tests.installation.team import ONCE, PATIENT, Ready, Team, refused, team_at


async def _asked_once(doomed: ServiceProcess, team: Team, ready: Ready, within_s: float = 20.0) -> Committed:
    """The answer to one attempt of the client: what the service makes of it without help."""
    async with team_at(doomed.address, team.tenant, retries=ONCE, within_s=within_s) as impatient:
        return await impatient.commit(ready)


async def test_c01_a_lost_reply_is_found_again_by_the_service(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given a commit that is durable while its reply is on its way back
    ready, before = await doomed_team.ready(), site.storage.assert_whole().receipts
    site.proxy.hold_replies(COMMIT)
    running = asyncio.create_task(_asked_once(doomed, doomed_team, ready))
    await eventually(lambda: site.storage.counts().receipts == before + 1, "the commit is durable")
    # When the connection is cut
    site.proxy.cut(COMMIT)
    await site.proxy.let_pass()
    # Then the service asks again, recognises its own receipt, and answers the first attempt with success
    assert not (await running).replayed
    assert (await doomed_team.commit(ready)).replayed
    assert site.storage.assert_whole().receipts == before + 1


async def test_c01_a_lost_call_is_made_again_by_the_service(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given a commit whose call is on its way to the database
    ready, before = await doomed_team.ready(), site.storage.assert_whole().receipts
    site.proxy.hold_requests(COMMIT)
    running = asyncio.create_task(_asked_once(doomed, doomed_team, ready))
    await eventually(lambda: site.proxy.held_requests > 0, "the call is on its way")
    # When the connection is cut and the call never arrives
    site.proxy.cut(COMMIT)
    await site.proxy.let_pass()
    # Then the service asks again and commits
    assert not (await running).replayed
    assert site.storage.assert_whole().receipts == before + 1


async def test_c01_a_call_that_goes_on_unheard_is_waited_for_by_the_service(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given a commit that stands still inside the database
    ready, before = await doomed_team.ready(), site.storage.assert_whole().receipts
    with gate(site.installation.admin_url, "outbox") as closed:
        running = asyncio.create_task(_asked_once(doomed, doomed_team, ready))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        # When its connection is cut, the service asks again, and the first call goes on
        said = doomed.said.count("commit asked again")
        site.proxy.cut(COMMIT)
        await eventually(lambda: doomed.said.count("commit asked again") > said, "the service asks again")
        assert not running.done()
        closed.open()
        # Then the second finds what the first has written: one record, and success
        assert not (await running).replayed
    assert site.storage.assert_whole().receipts == before + 1


@pytest.mark.parametrize("way", ["cancelled", "deadline"])
async def test_c02_f03_a_caller_that_goes_away_during_commit_finds_it_done(
    site: Site, doomed: ServiceProcess, doomed_team: Team, way: str
) -> None:
    # Given a commit that stands still inside the database
    ready, before = await doomed_team.ready(), site.storage.assert_whole().receipts
    with gate(site.installation.admin_url, "memory_record") as closed:
        running = asyncio.create_task(
            _asked_once(doomed, doomed_team, ready, within_s=3.0 if way == "deadline" else 20)
        )
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        # When its caller gives up
        if way == "cancelled":
            running.cancel()
            await asyncio.wait([running])
        else:
            assert (await refused(running, DeadlineExceeded)).outcome_unknown
        # Then the commit lands all the same, once it can
        assert site.storage.counts().receipts == before
        closed.open()
        await eventually(lambda: site.storage.counts().receipts == before + 1, "the commit lands")
    # And the same key finds it
    assert (await doomed_team.commit(ready)).replayed
    assert site.storage.assert_whole().receipts == before + 1


async def test_f03_a_caller_that_gives_up_before_commit_finds_it_done_once(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given a commit whose call is on its way to the database
    ready, before = await doomed_team.ready(), site.storage.assert_whole().receipts
    site.proxy.hold_requests(COMMIT)
    running = asyncio.create_task(_asked_once(doomed, doomed_team, ready, within_s=3.0))
    await eventually(lambda: site.proxy.held_requests > 0, "the call is on its way")
    # When its deadline passes before the call arrives
    await refused(running, DeadlineExceeded)
    assert site.storage.counts().receipts == before
    await site.proxy.let_pass()
    # Then it is committed once, by the call or by the retry
    async with team_at(doomed.address, doomed_team.tenant, retries=PATIENT) as patient:
        await patient.commit(ready)
    assert (await doomed_team.commit(ready)).replayed
    assert site.storage.assert_whole().receipts == before + 1


async def test_a15_the_same_key_elsewhere_is_in_progress_for_no_longer_than_its_caller_waits(
    site: Site, doomed: ServiceProcess, doomed_team: Team, survivors: Team
) -> None:
    # Given a commit that stands still inside the database
    hasty_process = await site.processes.serving({"deadline_cap_s": "1.5"})
    ready, before = await doomed_team.ready(), site.storage.assert_whole().receipts
    with gate(site.installation.admin_url, "commit_receipt") as closed:
        running = asyncio.create_task(doomed_team.commit(ready))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        # When the same key comes to another process, which lets no call take long
        async with team_at(hasty_process.address, doomed_team.tenant, retries=ONCE) as hasty:
            refusal = await refused(hasty.commit(ready), InProgress)
        # Then it is told in time that the first is still running, and when to ask again
        assert refusal.failure.retry_delay
        closed.open()
        first = await running
    assert (await survivors.commit(ready)).receipt.statement == first.receipt.statement
    assert site.storage.assert_whole().receipts == before + 1
