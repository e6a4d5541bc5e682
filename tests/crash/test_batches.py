"""Batches on processes that are killed, stopped, or hear nothing: each commit of them happens once, and is told of.

In each the client asks again by itself, with the same keys, until the service answers.
"""

import asyncio
from collections.abc import Sequence

import pytest

from capability_authority.client import AuthorityError, CommitItem, Committed
from tests.crash.conftest import Site
from tests.installation.gates import gate
from tests.installation.processes import ServiceProcess, eventually
from tests.installation.proxy import COMMIT
from tests.installation.team import ONCE, Ready, Team, all_of, team_at

COMMITS = 5


async def ready_ones(team: Team) -> list[Ready]:
    """A few capabilities, each on a proposal of its own."""
    return await all_of(team.ready() for _ in range(COMMITS))


async def committed(team: Team, ready: Sequence[Ready], within_s: float = 60.0) -> list[Committed | AuthorityError]:
    """The answers to one batch of them."""
    items = [CommitItem(one.capability, content=one.content) for one in ready]
    return await team.service.commit_batch(items, timeout=within_s)


async def asked_once(
    process: ServiceProcess, team: Team, ready: Sequence[Ready], within_s: float = 60.0
) -> list[Committed | AuthorityError]:
    """The answers to one attempt of the client: what the service makes of it without help."""
    async with team_at(process.address, team.tenant, retries=ONCE) as impatient:
        return await committed(impatient, ready, within_s)


async def assert_settled(
    site: Site,
    team: Team,
    ready: Sequence[Ready],
    answers: Sequence[Committed | AuthorityError],
    before: int,
    *,
    replayed: bool,
) -> None:
    """One more receipt for each, which is what its caller has, and what every retry gets."""
    first = [one for one in answers if isinstance(one, Committed)]
    assert len(first) == COMMITS, answers
    assert {one.replayed for one in first} == {replayed}
    assert site.storage.assert_whole().receipts == before + COMMITS
    for one, receipt in zip(ready, first, strict=True):
        again = await team.commit(one)
        assert (again.replayed, again.receipt.statement) == (True, receipt.receipt.statement)


async def test_a06_a_batch_killed_before_its_call_reaches_the_database(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given a batch whose call is on its way to the database
    ready, before = await ready_ones(doomed_team), site.storage.assert_whole().receipts
    site.proxy.hold_requests(COMMIT)
    running = asyncio.create_task(committed(doomed_team, ready))
    await eventually(lambda: site.proxy.held_requests > 0, "the call is on its way")
    # When the service is killed, and the call never arrives
    await doomed.kill()
    site.proxy.cut(COMMIT)
    await site.proxy.let_pass()
    assert site.storage.counts().receipts == before
    # Then after a restart all are committed by the retry
    await site.processes.again(doomed)
    await assert_settled(site, doomed_team, ready, await running, before, replayed=False)


async def test_f10_a_batch_killed_after_the_commit_before_the_reply(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given a batch that is durable while its reply is on its way back
    ready, before = await ready_ones(doomed_team), site.storage.assert_whole().receipts
    site.proxy.hold_replies(COMMIT)
    running = asyncio.create_task(committed(doomed_team, ready))
    await eventually(lambda: site.storage.counts().receipts == before + COMMITS, "the batch is durable")
    # When the service is killed
    await doomed.kill()
    site.proxy.cut(COMMIT)
    await site.proxy.let_pass()
    # Then after a restart the retry is answered with what was committed
    await site.processes.again(doomed)
    await assert_settled(site, doomed_team, ready, await running, before, replayed=True)


async def test_c01_a_lost_reply_to_a_batch_is_found_again_by_the_service(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given a batch that is durable while its reply is on its way back
    ready, before = await ready_ones(doomed_team), site.storage.assert_whole().receipts
    site.proxy.hold_replies(COMMIT)
    running = asyncio.create_task(asked_once(doomed, doomed_team, ready))
    await eventually(lambda: site.storage.counts().receipts == before + COMMITS, "the batch is durable")
    # When the connection is cut
    site.proxy.cut(COMMIT)
    await site.proxy.let_pass()
    # Then the service asks again, recognises its own receipts, and answers the first attempt with success
    await assert_settled(site, doomed_team, ready, await running, before, replayed=False)


@pytest.mark.parametrize("way", ["cancelled", "deadline"])
async def test_c02_f03_a_batch_whose_caller_goes_away_is_finished_and_replays(
    site: Site, doomed: ServiceProcess, doomed_team: Team, way: str
) -> None:
    # Given a batch that stands still inside the database
    ready, before = await ready_ones(doomed_team), site.storage.assert_whole().receipts
    with gate(site.installation.admin_url, "memory_record") as closed:
        within_s = 5.0 if way == "deadline" else 60.0
        running = asyncio.create_task(asked_once(doomed, doomed_team, ready, within_s))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        # When its caller gives up
        if way == "cancelled":
            running.cancel()
            await asyncio.wait([running])
        else:
            answers = await running
            assert all(isinstance(one, AuthorityError) and one.outcome_unknown for one in answers), answers
        # Then all of it lands, once it can
        assert site.storage.counts().receipts == before
        closed.open()
        await eventually(lambda: site.storage.counts().receipts == before + COMMITS, "the batch lands")
    # And the same keys find it
    await assert_settled(site, doomed_team, ready, await committed(doomed_team, ready), before, replayed=True)


async def test_f12_a_running_batch_ends_before_the_process_does(
    site: Site, doomed: ServiceProcess, doomed_team: Team, survivors: Team
) -> None:
    # Given a batch that stands still inside the database
    ready, before = await ready_ones(doomed_team), site.storage.assert_whole().receipts
    with gate(site.installation.admin_url, "outbox") as closed:
        running = asyncio.create_task(asked_once(doomed, doomed_team, ready))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        # When the process is asked to end, then it waits for the batch
        doomed.terminate()
        closed.open()
        answers = await running
    assert await doomed.ends() == 0
    await assert_settled(site, survivors, ready, answers, before, replayed=False)
