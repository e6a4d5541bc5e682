"""Without Redis commits go on, reads wait for it, and health says so; nothing is restarted (cases B05, B07, B08)."""

import time

import grpc
import pytest

from capability_authority.client import CommitItem, Committed, Revoked, Unavailable
from capability_authority.v1.capability_service_pb2 import GetCommitReceiptRequest
from tests.faults.conftest import Site
from tests.faults.redis_moods.scene import (
    A_SMALL_PART_OF_A_DEADLINE_S,
    MOODS,
    mend,
    reads_again,
    tells_of_redis,
)
from tests.installation.team import ONCE, Team, refused, team_at
from tests.installation.wire import Wire


@pytest.mark.parametrize("mood", MOODS)
async def test_without_redis_commits_go_on_and_reads_are_unavailable(
    site: Site, patient: Team, wire: Wire, mended: None, mood: str
) -> None:
    # Given a settled commit, and other capabilities
    settled, ready, withdrawn, *many = [await patient.ready() for _ in range(6)]
    first = await patient.commit(settled)
    said_before = len(site.service.said)
    # When Redis is of no use
    spoil, reason = MOODS[mood]
    spoil(site)
    async with team_at(site.service.address, patient.tenant, retries=ONCE) as impatient:
        # Then commits and replays go on, from PostgreSQL alone and without much waiting
        begun = time.monotonic()
        assert not (await impatient.commit(ready)).replayed
        assert (await impatient.commit(ready)).replayed
        assert (await impatient.commit(settled)).receipt.statement == first.receipt.statement
        items = [CommitItem(one.capability, content=one.content) for one in [*many, *many, settled]]
        together = await impatient.service.commit_batch(items)
        assert [one.replayed for one in together if isinstance(one, Committed)] == [False] * 3 + [True] * 4
        assert time.monotonic() - begun < A_SMALL_PART_OF_A_DEADLINE_S
        # And so do withdrawals, of which Redis is told nothing
        assert not (await impatient.service.revoke(withdrawn.capability)).replayed
        await refused(impatient.commit(withdrawn), Revoked)
        # And so does the way to a commit but for what is read: a proof of a read cannot be remembered
        refusal = await wire.refused("GetCommitReceipt", GetCommitReceiptRequest(commit_idempotency_key=ready.key))
        assert (refusal.code, refusal.reason) == (grpc.StatusCode.UNAVAILABLE, "DEPENDENCY_UNAVAILABLE")
        assert refusal.retry is not None
        assert not (await impatient.commit(await impatient.ready())).replayed
        # And health and log say so, and why
        await tells_of_redis(site.service, serving=False)
        assert reason in site.service.said[said_before:]
        # And once Redis is well reads are served again, without a restart, and health says that too
        mend(site)
        await reads_again(patient.service)
        await tells_of_redis(site.service, serving=True)
        assert "redis_back" in site.service.said[said_before:]


async def test_health_tells_of_redis_also_while_nobody_calls(site: Site, patient: Team, mended: None) -> None:
    # Given a service that nobody calls
    await tells_of_redis(site.service, serving=True)
    # When Redis goes, then its health says so, and again when it is back
    site.valkey.kill()
    await tells_of_redis(site.service, serving=False)
    mend(site)
    await tells_of_redis(site.service, serving=True)


async def test_b05_the_service_starts_without_redis(site: Site, patient: Team, mended: None) -> None:
    # Given no Redis
    ready = await patient.ready()
    site.valkey.kill()
    # When a service starts
    process = await site.processes.serving()
    async with team_at(process.address, patient.tenant, retries=ONCE) as impatient:
        # Then it says what it lacks, commits, and does not read
        await tells_of_redis(process, serving=False)
        assert not (await impatient.commit(ready)).replayed
        await refused(impatient.service.get_receipt(commit_idempotency_key=ready.key), Unavailable)
        # And reads once Redis is there
        mend(site)
        async with team_at(process.address, patient.tenant) as patient_there:
            await reads_again(patient_there.service)
    assert "Redis could not be asked" in process.said
