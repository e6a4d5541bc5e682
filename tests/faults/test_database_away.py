"""PostgreSQL away, hung or failing: UNAVAILABLE with RetryInfo, nothing internal in the text, nothing half done."""

import asyncio

import grpc
import pytest

from authority.domain.reasons import Reason
from capability_authority.client import AuthorityError, CommitItem, Committed, InternalFault, Unavailable
from capability_authority.v1.capability_service_pb2 import GetCommitReceiptRequest
from tests.faults.conftest import Site
from tests.installation.gates import WRITES, failing, gate
from tests.installation.processes import eventually
from tests.installation.requests import commit_of
from tests.installation.storage import Storage
from tests.installation.team import ONCE, Team, refused, team_at
from tests.installation.wire import Wire
from tests.integration.rpc.running import Failure

NO_SPACE, BAD_ROW = "53100", "23514"


def _assert_unavailable(failure: Failure) -> None:
    assert (failure.code, failure.reason) == (grpc.StatusCode.UNAVAILABLE, "DEPENDENCY_UNAVAILABLE")
    assert failure.retry is not None
    assert 0 < failure.retry.retry_delay.ToMilliseconds() <= 5_000


@pytest.mark.parametrize("way", ["killed", "paused"])
async def test_a13_a_commit_without_a_database_is_unavailable_and_then_executes(
    site: Site, patient: Team, wire: Wire, way: str
) -> None:
    # Given a capability, and a database that has crashed or hangs
    ready = await patient.ready()
    site.postgres.kill() if way == "killed" else site.postgres.pause()
    # When it is committed, and when anything is read
    refusals = [
        await wire.refused("CommitValidated", commit_of(ready)),
        await wire.refused("GetCommitReceipt", GetCommitReceiptRequest(commit_idempotency_key=ready.key)),
    ]
    # Then both may be tried again, which is all that is said
    for refusal in refusals:
        _assert_unavailable(refusal)
    # And once the database is back the same key executes: a failure was not stored as its answer
    site.postgres.resume() if way == "paused" else await asyncio.to_thread(site.postgres.restart)
    committed = await patient.commit(ready)
    assert not committed.replayed
    assert (await patient.commit(ready)).receipt.statement == committed.receipt.statement


async def test_c01_a_database_that_hangs_inside_a_commit_leaves_it_unknown_until_asked_again(
    site: Site, patient: Team, wire: Wire
) -> None:
    # Given a commit inside the database, which hangs from then on
    ready = await patient.ready()
    with gate(site.installation.admin_url, "memory_record") as closed:
        running = asyncio.create_task(wire.refused("CommitValidated", commit_of(ready)))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        site.postgres.pause()
        # When the time for the call is over, then its outcome is unknown, and it may be tried again
        _assert_unavailable(await running)
        # And once the database goes on, so does the commit, and the same key finds it
        site.postgres.resume()
        closed.open()
        assert (await patient.commit(ready)).replayed


async def test_a13_no_verb_says_more_than_that_it_is_unavailable(site: Site, patient: Team, impatient: Team) -> None:
    # Given a ground to issue on, and a database that has crashed
    ground = await patient.ground()
    ready = await patient.issue(ground)
    site.postgres.kill()
    # When anything is asked for, then it is unavailable
    calls = [
        impatient.ground(),
        impatient.service.validate(ground.proposal),
        impatient.service.evaluate_policy(ground.proposal),
        impatient.issue(ground, "another"),
        impatient.commit(ready),
        impatient.admin.decide(ground.proposal, "approve"),
        impatient.user.get_proposal(ground.proposal.proposal_id),
    ]
    for call in calls:
        assert (await refused(call, Unavailable)).failure.retry_delay
    # And a patient caller never notices, while the service goes on without a restart
    committing = asyncio.create_task(patient.commit(ready))
    await asyncio.to_thread(site.postgres.restart)
    assert not (await committing).replayed


@pytest.mark.parametrize("way", ["away", "hung"])
async def test_the_service_does_not_start_without_a_database_and_says_why(site: Site, whole: None, way: str) -> None:
    # Given a database that has crashed or hangs
    site.postgres.kill() if way == "away" else site.postgres.pause()
    # When the service is started
    process = site.processes.start()
    # Then it ends by itself with a sentence that names the setting, and no password
    assert await process.ends() == 1
    (sentence,) = process.said.splitlines()
    assert "AUTHORITY_DATABASE_URL" in sentence
    assert ":installation@" not in sentence


@pytest.mark.parametrize(("table", "event"), WRITES)
@pytest.mark.parametrize("sqlstate", [NO_SPACE, BAD_ROW])
async def test_a05_g15_a_write_that_fails_leaves_nothing_and_burns_nothing(
    site: Site, patient: Team, broken_storage: Storage, table: str, event: str, sqlstate: str
) -> None:
    # Given a capability, and one write of the commit that will fail
    ready = await patient.ready()
    before = broken_storage.dump()
    async with team_at(site.service.address, patient.tenant, retries=ONCE) as impatient:
        # When it is committed; the service tries again until its own cap where that may help, else answers at once
        with failing(site.installation.admin_url, table, event, sqlstate):
            kind: type[AuthorityError] = Unavailable if sqlstate == NO_SPACE else InternalFault
            refusal = await refused(impatient.commit(ready), kind)
        # Then nothing of the cause is told, not even in the log, nor is the content
        assert "SECRET" not in str(refusal) + site.service.said
        assert ready.content.decode() not in site.service.said
        # And nothing of the commit stays: no record, no receipt, no event, no audit
        assert broken_storage.dump() == before
    # And the same key succeeds once the fault is lifted
    assert not (await patient.commit(ready)).replayed


async def test_f01_one_commit_of_a_batch_that_cannot_be_stored_is_a_fault_of_its_own(
    site: Site, patient: Team, broken_storage: Storage
) -> None:
    # Given a batch of which one row cannot be stored
    ready = [await patient.ready() for _ in range(5)]
    poison, before = ready[2], broken_storage.assert_whole().receipts
    items = [CommitItem(one.capability, content=one.content) for one in ready]
    with failing(
        site.installation.admin_url, "commit_receipt", "insert", BAD_ROW, when=f"new.idempotency_key = '{poison.key}'"
    ):
        # When it is committed
        answers = await patient.service.commit_batch(items)
    # Then that one is told of a fault and of nothing inside, and the others are committed
    assert [isinstance(one, Committed) for one in answers] == [True, True, False, True, True]
    fault = answers[2]
    assert isinstance(fault, InternalFault)
    assert "SECRET" not in str(fault) + site.service.said
    assert (fault.message, fault.key) == (Reason.INTERNAL.value, poison.key)
    assert broken_storage.assert_whole().receipts == before + 4
    # And it burned nothing
    answers = await patient.service.commit_batch(items)
    assert [one.replayed for one in answers if isinstance(one, Committed)] == [True, True, False, True, True]


async def test_a_database_that_only_reads_is_unavailable_until_it_writes(
    site: Site, patient: Team, broken_storage: Storage
) -> None:
    # Given a database that has become a replica, as far as its clients can tell
    ready = await patient.ready()
    broken_storage.ask("alter system set default_transaction_read_only = on")
    broken_storage.ask("select pg_reload_conf()")
    await eventually(lambda: broken_storage.one("show default_transaction_read_only") == "on", "it only reads")
    try:
        # When it is committed, then it is unavailable
        async with team_at(site.service.address, patient.tenant, retries=ONCE) as hasty:
            await refused(hasty.commit(ready), Unavailable)
    finally:
        broken_storage.ask("set default_transaction_read_only = off")
        broken_storage.ask("alter system reset default_transaction_read_only")
        broken_storage.ask("select pg_reload_conf()")
    # And once it writes again the same key succeeds
    assert not (await patient.commit(ready)).replayed
