"""kill -9 amid a commit that a signed envelope proves: record, receipt and envelope are there together, or none is."""

import asyncio

from capability_authority.client import Committed
from tests.crash.conftest import Site
from tests.installation.enveloping import envelope_of
from tests.installation.gates import gate
from tests.installation.installation import Tenant
from tests.installation.processes import ServiceProcess, eventually
from tests.installation.team import Ready, Team

PROVES = "select convert_from(envelope, 'UTF8') from authority.upstream_proof where tenant = %s and receipt_id = %s"
PROOF = "upstream_proof"
"""What is written last, when record and receipt are written."""


async def commit(team: Team, ready: Ready, envelope: bytes) -> Committed:
    return await team.service.commit(ready.capability, content=ready.content, upstream_envelope=envelope)


async def test_f10_killed_inside_the_call_that_goes_on_to_commit_keeps_the_envelope(
    site: Site, doomed: ServiceProcess, doomed_team: Team, crash_tenant: Tenant
) -> None:
    # Given a commit by an envelope that stands still inside the database
    ready, before = await doomed_team.ready(), site.storage.assert_whole().receipts
    envelope = envelope_of(ready, crash_tenant["service"])
    with gate(site.installation.admin_url, PROOF) as closed:
        running = asyncio.create_task(commit(doomed_team, ready, envelope))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        # When the service is killed, and the database goes on with what it was sent
        await doomed.kill()
        closed.open()
        await eventually(lambda: site.storage.counts().receipts == before + 1, "the commit lands")
    # Then after a restart the retry, by the same envelope, is answered with what has landed
    await site.processes.again(doomed)
    first = await running
    assert first.replayed
    assert site.storage.assert_whole().receipts == before + 1
    assert site.storage.one(PROVES, str(crash_tenant.ref), first.receipt.receipt_id) == envelope.decode()


async def test_a15_killed_inside_the_call_that_is_undone_keeps_no_envelope(
    site: Site, doomed: ServiceProcess, doomed_team: Team, survivors: Team, crash_tenant: Tenant
) -> None:
    # Given a commit by an envelope that stands still inside the database
    ready, before = await doomed_team.ready(), site.storage.dump()
    with gate(site.installation.admin_url, PROOF) as closed:
        running = asyncio.create_task(commit(doomed_team, ready, envelope_of(ready, crash_tenant["service"])))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        # When the service and the database's process are killed
        await doomed.kill()
        closed.break_off()
    assert site.storage.dump() == before
    # Then a retry by another envelope commits, and that is the one which is kept
    envelope = envelope_of(ready, crash_tenant["service"])
    first = await commit(survivors, ready, envelope)
    assert not first.replayed
    assert site.storage.one(PROVES, str(crash_tenant.ref), first.receipt.receipt_id) == envelope.decode()
    # And the caller that never gave up gets the same receipt
    await site.processes.again(doomed)
    again = await running
    assert (again.replayed, again.receipt.statement) == (True, first.receipt.statement)
