"""Capabilities asked for of processes that are killed or hear nothing: each is issued once, and everybody has that one.

In each the client asks again by itself, with the same request ids, until the service answers.
"""

import asyncio
from collections.abc import Sequence

import pytest

from capability_authority.client import AuthorityError, IssuedCapability, IssueItem
from tests.crash.conftest import Site
from tests.installation.gates import gate
from tests.installation.processes import ServiceProcess, eventually
from tests.installation.proxy import ISSUE
from tests.installation.team import ONCE, Ground, Team, team_at

KEYS = tuple(f"key-{number}" for number in range(5))

Answers = Sequence[IssuedCapability | AuthorityError]


def items_of(ground: Ground) -> list[IssueItem]:
    """A few requests, under keys and request ids that another process can give again."""
    return [
        IssueItem(
            ground.proposal,
            validation_receipt=ground.validation.receipt,
            decision_receipt=ground.decision.receipt,
            commit_idempotency_key=key,
            request_id=f"request-{key}",
        )
        for key in KEYS
    ]


async def asked_once(process: ServiceProcess, team: Team, ground: Ground, within_s: float = 60.0) -> Answers:
    """The answers to one attempt of the client: what the service makes of it without help."""
    async with team_at(process.address, team.tenant, retries=ONCE) as impatient:
        return await impatient.service.issue_batch(items_of(ground), timeout=within_s)


def kept(site: Site, team: Team) -> dict[str, bytes]:
    """The payload of the one capability that was ever issued under each key."""
    rows = site.storage.ask(
        "select idempotency_key, payload from authority.capability where tenant = %s and idempotency_key like 'key-%%'",
        str(team.tenant.ref),
    )
    assert len(dict(rows)) == len(rows)
    return dict(rows)


async def assert_settled(site: Site, team: Team, ground: Ground, answers: Answers, *, replayed: bool) -> None:
    """One capability for each, which is what its caller has, what every retry gets, and what can be committed."""
    issued = [one for one in answers if isinstance(one, IssuedCapability)]
    assert len(issued) == len(KEYS), answers
    assert {one.replayed for one in issued} == {replayed}
    assert kept(site, team) == {one.commit_idempotency_key: one.statement.payload for one in issued}
    again = await team.service.issue_batch(items_of(ground))
    assert [(one.replayed, one.statement) for one in again if isinstance(one, IssuedCapability)] == [
        (True, one.statement) for one in issued
    ]
    assert not (await team.service.commit(issued[0], content=ground.proposal.content)).replayed
    audited = site.storage.one(
        "select count(*) from authority.audit_event"
        " where tenant = %s and kind = 'capability.issue' and subject = any (%s)",
        str(team.tenant.ref),
        [one.capability_id for one in issued],
    )
    assert audited == len(KEYS)


async def test_a06_killed_before_the_call_reaches_the_database(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given requests whose call is on its way to the database
    ground = await doomed_team.ground()
    site.proxy.hold_requests(ISSUE)
    running = asyncio.create_task(doomed_team.service.issue_batch(items_of(ground), timeout=60.0))
    await eventually(lambda: site.proxy.held_requests > 0, "the call is on its way")
    # When the service is killed, and the call never arrives
    await doomed.kill()
    site.proxy.cut(ISSUE)
    await site.proxy.let_pass()
    assert kept(site, doomed_team) == {}
    # Then after a restart all are issued by the retry
    await site.processes.again(doomed)
    await assert_settled(site, doomed_team, ground, await running, replayed=False)


async def test_f10_killed_inside_the_call_that_goes_on_to_issue(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given requests that stand still inside the database
    ground = await doomed_team.ground()
    with gate(site.installation.admin_url, "capability") as closed:
        running = asyncio.create_task(doomed_team.service.issue_batch(items_of(ground), timeout=60.0))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        # When the service is killed, and the call goes on
        await doomed.kill()
        assert kept(site, doomed_team) == {}
        closed.open()
        await eventually(lambda: len(kept(site, doomed_team)) == len(KEYS), "the capabilities are durable")
    # Then after a restart the retry is answered with what was issued
    await site.processes.again(doomed)
    await assert_settled(site, doomed_team, ground, await running, replayed=True)


async def test_c01_a_lost_reply_is_found_again_by_the_service(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given requests that stand still inside the database, and whose reply will be held up
    ground = await doomed_team.ground()
    with gate(site.installation.admin_url, "capability") as closed:
        running = asyncio.create_task(asked_once(doomed, doomed_team, ground))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        site.proxy.hold_replies(ISSUE)
        closed.open()
        await eventually(lambda: len(kept(site, doomed_team)) == len(KEYS), "the capabilities are durable")
    # When the connection is cut
    site.proxy.cut(ISSUE)
    await site.proxy.let_pass()
    # Then the service asks for the same again, recognises its own, and answers the first attempt with success
    await assert_settled(site, doomed_team, ground, await running, replayed=False)


@pytest.mark.parametrize("way", ["cancelled", "deadline"])
async def test_c02_f03_requests_whose_caller_goes_away_are_finished_and_found(
    site: Site, doomed: ServiceProcess, doomed_team: Team, way: str
) -> None:
    # Given requests that stand still inside the database
    ground = await doomed_team.ground()
    with gate(site.installation.admin_url, "capability") as closed:
        within_s = 5.0 if way == "deadline" else 60.0
        running = asyncio.create_task(asked_once(doomed, doomed_team, ground, within_s))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        # When their caller gives up
        if way == "cancelled":
            running.cancel()
            await asyncio.wait([running])
        else:
            answers = await running
            assert all(isinstance(one, AuthorityError) and one.outcome_unknown for one in answers), answers
        # Then all are issued, once they can be
        assert kept(site, doomed_team) == {}
        closed.open()
        await eventually(lambda: len(kept(site, doomed_team)) == len(KEYS), "the capabilities are durable")
    # And the same request ids find them
    again = await doomed_team.service.issue_batch(items_of(ground))
    await assert_settled(site, doomed_team, ground, again, replayed=True)


async def test_f12_requests_that_run_end_before_the_process_does(
    site: Site, doomed: ServiceProcess, doomed_team: Team, survivors: Team
) -> None:
    # Given requests that stand still inside the database
    ground = await doomed_team.ground()
    with gate(site.installation.admin_url, "capability") as closed:
        running = asyncio.create_task(asked_once(doomed, doomed_team, ground))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        # When the process is asked to end, then it waits for them
        doomed.terminate()
        closed.open()
        answers = await running
    assert await doomed.ends() == 0
    await assert_settled(site, survivors, ground, answers, replayed=False)
