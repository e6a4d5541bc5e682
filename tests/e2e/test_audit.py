"""The audit log over the wire, on real processes: who reads it, and watches that lose nothing."""

from contextlib import aclosing

import grpc
import pytest

from capability_authority.client import AuditEvent, NotAllowed
from capability_authority.v1.audit_service_pb2 import AuditFilter, WatchAuditEventsRequest
from tests.installation.installation import Installation, Tenant
from tests.installation.processes import ServiceProcess
from tests.installation.team import Team, refused, team_at
from tests.installation.wire import wire_to

RPC = "WatchAuditEvents"
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
OF_A_COMMIT = ["proposal.create", "proposal.validate", "policy.decide", "capability.issue", "memory.commit"]


async def test_the_admin_reads_what_happened_with_its_trace(team: Team) -> None:
    # Given a commit in a trace
    ready = await team.ready(correlation_id="run-9")
    committed = await team.commit(ready, traceparent=f"00-{TRACE_ID}-00f067aa0ba902b7-01")
    # When the admin asks what happened to the record, and what belonged to the run
    of_record = [event async for event in team.admin.list_audit_events(subject=committed.record_id)]
    of_run = [
        event.kind
        async for event in team.admin.list_audit_events(correlation_id="run-9", oldest_first=True, page_size=2)
    ]
    # Then it is told, by whom and in which trace
    (told,) = of_record
    assert (told.kind, told.actor) == ("memory.commit", team.tenant["service"].principal)
    assert told.message.trace_id == TRACE_ID
    assert of_run == OF_A_COMMIT


@pytest.mark.parametrize("member", ["user", "agent", "service"])
async def test_the_caller_column_of_the_audit_service(team: Team, member: str) -> None:
    client = getattr(team, member)
    await refused(anext(client.list_audit_events()), NotAllowed)
    await refused(anext(client.watch_audit_events()), NotAllowed)


async def test_a_watch_goes_on_by_its_cursor_at_another_process(team: Team, team_elsewhere: Team) -> None:
    # Given a watch that has told of something
    async with aclosing(team.admin.watch_audit_events()) as watch:
        cursor = (await anext(watch)).cursor
        await team.ready()
        found: list[AuditEvent] = []
        while len(found) < 4:
            news = await anext(watch)
            found += news.events
            cursor = news.cursor
    # When more happens while nobody watches, and the watch goes on elsewhere
    await team.commit(await team.ready())
    async with aclosing(team_elsewhere.admin.watch_audit_events(cursor=cursor)) as watch:
        while len(found) < 9:
            found += (await anext(watch)).events
    # Then everything is told once, in order
    assert [event.kind for event in found] == OF_A_COMMIT[:4] + OF_A_COMMIT


async def test_a_watch_goes_on_by_itself_when_its_process_ends(installation: Installation) -> None:
    # Given a watch at a process that is about to end, and another process on the same port
    tenant = await installation.tenant()
    with installation.processes() as processes:
        first = await processes.serving()
        async with (
            team_at(first.address, tenant) as team,
            aclosing(team.admin.watch_audit_events()) as watch,
        ):
            assert (await anext(watch)).events == ()
            await team.ready()
            found: list[AuditEvent] = []
            while len(found) < 4:
                found += (await anext(watch)).events
            first.terminate()
            await first.ends()
            await processes.again(first)
            await team.ready()
            while len(found) < 8:
                found += (await anext(watch)).events
    assert [event.kind for event in found] == OF_A_COMMIT[:4] * 2


async def test_i04_i05_the_proof_of_a_watch_opens_that_watch_once(
    services: tuple[ServiceProcess, ...], tenant: Tenant
) -> None:
    # Given a proof that opened a watch
    request = WatchAuditEventsRequest(filter=AuditFilter(kind="memory.commit"))
    async with wire_to(services[0].address, tenant["admin"]) as admin:
        proof = admin.proof(RPC, request.SerializeToString())
        watch = admin.watch(RPC, request, proofs=[proof])
        assert (await watch.message()).cursor
        watch.call.cancel()
    # When it is sent again, to this process or another, then it has been used, and fits no other watch
    for process in services:
        async with wire_to(process.address, tenant["admin"]) as thief:
            again = await thief.watch(RPC, request, proofs=[proof]).fails()
            other = await thief.watch(RPC, WatchAuditEventsRequest(), proofs=[proof]).fails()
        assert (again.code, again.reason) == (grpc.StatusCode.PERMISSION_DENIED, "PROOF_REPLAYED")
        assert (other.reason, dict(other.info.metadata)) == ("PROOF_INVALID", {"proof": "request_digest"})
