"""Streams of commits on processes that are killed, stopped, or send everybody away: nothing is lost, nothing doubled.

In each the client goes on by itself: what has no outcome is sent again, with the same keys, on another stream.
"""

import asyncio

import grpc
from grpc import aio

from capability_authority.client import CommitItem, StreamedCommit
from capability_authority.v1.audit_service_pb2 import WatchAuditEventsRequest
from capability_authority.v1.capability_service_pb2 import StreamCommitValidatedRequest, WatchRevocationsRequest
from tests.crash.conftest import DOOMED, Site
from tests.installation.gates import gate
from tests.installation.installation import Tenant
from tests.installation.processes import ServiceProcess, eventually
from tests.installation.proxy import COMMIT
from tests.installation.requests import commit_of
from tests.installation.team import Ready, Team, all_of, team_at
from tests.installation.wire import Wire, wire_to

COMMITS = 200
GRACE_S = float(DOOMED["drain_s"])
A_SECOND_ON_A_BUSY_MACHINE_S = 10.0


def items_of(ready: list[Ready]) -> list[CommitItem]:
    return [CommitItem(one.capability, content=one.content) for one in ready]


async def streamed(team: Team, ready: list[Ready]) -> list[StreamedCommit]:
    """The outcomes of all, over however many streams; each may take half a minute."""
    return [one async for one in team.service.commit_stream(items_of(ready), window=32)]


async def _assert_once_each(
    site: Site, team: Team, outcomes: list[StreamedCommit], ready: list[Ready], before: int
) -> None:
    """One record for each, and what its caller has is what is stored."""
    assert sorted(one.commit_idempotency_key for one in outcomes) == sorted(one.key for one in ready)
    assert len({one.result().receipt_id for one in outcomes}) == len(ready)
    assert site.storage.assert_whole().receipts == before + len(ready)
    stored = site.storage.ask("select payload from authority.commit_receipt where tenant = %s", str(team.tenant.ref))
    assert {one.result().receipt.statement.payload for one in outcomes} <= {row[0] for row in stored}


async def test_a06_killed_in_the_middle_of_a_stream_under_load(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given a stream of many commits, under way
    ready = await all_of(doomed_team.ready() for _ in range(COMMITS))
    before = site.storage.assert_whole().receipts
    streaming = asyncio.create_task(streamed(doomed_team, ready))
    await eventually(lambda: site.storage.counts().receipts > before + COMMITS // 5, "the stream is under way")
    # When the service is killed, and started again
    await doomed.kill()
    assert not streaming.done()
    await site.processes.again(doomed)
    # Then every commit has its receipt, and there is one record for each
    await _assert_once_each(site, doomed_team, await streaming, ready, before)


async def test_f10_killed_after_the_commit_before_the_outcome(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given commits of a stream that are durable while the reply of the database is on its way back
    ready = await all_of(doomed_team.ready() for _ in range(8))
    before = site.storage.assert_whole().receipts
    site.proxy.hold_replies(COMMIT)
    streaming = asyncio.create_task(streamed(doomed_team, ready))
    await eventually(lambda: site.storage.counts().receipts > before, "a commit is durable")
    # When the service is killed, and started again
    await doomed.kill()
    site.proxy.cut(COMMIT)
    await site.proxy.let_pass()
    await site.processes.again(doomed)
    # Then those are found by their keys
    outcomes = await streaming
    assert any(one.result().replayed for one in outcomes)
    await _assert_once_each(site, doomed_team, outcomes, ready, before)


async def test_c02_f03_what_was_sent_lands_though_its_caller_is_gone(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given an item that stands still inside the database, and one that was never sent
    ready = [await doomed_team.ready() for _ in range(2)]
    before = site.storage.assert_whole().receipts
    async with wire_to(doomed.address, doomed_team.tenant["service"]) as wire:
        stream = wire.stream()
        with gate(site.installation.admin_url, "memory_record") as closed:
            await stream.send(_item(1, ready[0]))
            await eventually(lambda: len(closed.waiting()) == 1, "the item is inside the database")
            # When its caller goes away
            stream.call.cancel()
            closed.open()
            # Then it lands all the same
            await eventually(lambda: site.storage.counts().receipts == before + 1, "the commit lands")
    # And the same key finds it, as it finds out that the other did not happen
    outcomes = {one.commit_idempotency_key: one.result().replayed for one in await streamed(doomed_team, ready)}
    assert outcomes == {ready[0].key: True, ready[1].key: False}
    assert site.storage.assert_whole().receipts == before + 2


async def test_f12_a_restart_under_a_stream_loses_and_doubles_nothing(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    ready = await all_of(doomed_team.ready() for _ in range(COMMITS))
    before = site.storage.assert_whole().receipts
    streaming = asyncio.create_task(streamed(doomed_team, ready))
    await eventually(lambda: site.storage.counts().receipts > before + COMMITS // 5, "the stream is under way")
    # When the service is restarted in order
    doomed.terminate()
    assert await doomed.ends() == 0
    assert not streaming.done()
    await site.processes.again(doomed)
    await _assert_once_each(site, doomed_team, await streaming, ready, before)


async def test_f12_what_a_stream_has_read_is_answered_before_the_process_ends(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given a stream with an item that stands still inside the database, and another that is idle
    ready, late = await doomed_team.ready(), await doomed_team.ready()
    before = site.storage.assert_whole().receipts
    async with wire_to(doomed.address, doomed_team.tenant["service"]) as wire:
        stream, idle = wire.stream(), wire.stream()
        await idle.call.initial_metadata()
        with gate(site.installation.admin_url, "commit_receipt") as closed:
            await stream.send(_item(1, ready))
            await eventually(lambda: len(closed.waiting()) == 1, "the item is inside the database")
            # When the process is asked to end
            doomed.terminate()
            # Then the idle one ends well at once, and the other reads no more
            assert await idle.outcomes() == []
            await stream.send(_item(2, late))
            assert doomed.exit_code is None
            closed.open()
        # And what was read is answered, before the stream and then the process end well
        (outcome,) = await stream.outcomes()
    assert (outcome.tag, outcome.outcome.WhichOneof("outcome")) == (1, "result")
    assert await doomed.ends() == 0
    assert site.storage.assert_whole().receipts == before + 1


async def test_f12_watches_end_well_with_the_process(doomed: ServiceProcess, doomed_team: Team) -> None:
    # Given watches of both kinds that wait for news
    async with wire_to(doomed.address, doomed_team.tenant["admin"]) as wire:
        watches = [
            wire.watch("WatchAuditEvents", WatchAuditEventsRequest()),
            wire.watch("WatchRevocations", WatchRevocationsRequest()),
        ]
        for watch in watches:
            assert await watch.message()
        # When the process is asked to end, then none is cut off by its grace, and the process ends by itself
        doomed.terminate()
        for watch in watches:
            assert await watch.message() is None
            assert await watch.call.code() is grpc.StatusCode.OK
        assert await doomed.ends() == 0


async def test_f12_a_stuck_stream_does_not_outlive_the_grace(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given a caller that sends the same settled commit over and over, and reads no outcome
    ready = await doomed_team.ready("x" * 64 * 1024)
    await doomed_team.commit(ready)
    small_window = (("grpc.use_local_subchannel_pool", 1), ("grpc.http2.bdp_probe", 0))
    async with aio.insecure_channel(doomed.address, small_window) as channel:
        stream = Wire(channel, doomed_team.tenant["service"]).stream()
        sending = asyncio.create_task(stream.send(*(_item(tag, ready) for tag in range(4_000))))
        await stream.call.initial_metadata()
        for _ in range(100):
            assert (await doomed_team.commit(ready)).replayed
        assert not sending.done(), "250 MiB are more than all buffers on the way hold"
        # When the process is asked to end, then it does, by its grace
        doomed.terminate()
        assert await doomed.ends(GRACE_S + A_SECOND_ON_A_BUSY_MACHINE_S) == 0
        await asyncio.wait([sending])
    site.storage.assert_whole()


async def test_f11_short_streams_and_short_connections_lose_and_double_nothing(
    site: Site, crash_tenant: Tenant
) -> None:
    # Given a service whose streams get old in no time, and whose connections are sent away
    restless = await site.processes.serving({"stream_life_s": "0.05", "connection_age_s": "0.2"})
    try:
        async with team_at(restless.address, crash_tenant) as team:
            ready = await all_of(team.ready() for _ in range(COMMITS))
            before = site.storage.assert_whole().receipts
            opened = site.storage.one("select count(*) from authority.stream_nonce")
            outcomes = await streamed(team, ready)
            await _assert_once_each(site, team, outcomes, ready, before)
            # Then it took many streams
            assert site.storage.one("select count(*) from authority.stream_nonce") > opened + 1
    finally:
        site.processes.clear_away()


def _item(tag: int, ready: Ready) -> StreamCommitValidatedRequest:
    return StreamCommitValidatedRequest(tag=tag, commit=commit_of(ready))
