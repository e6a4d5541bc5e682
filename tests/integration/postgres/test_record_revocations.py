"""What a revocation of learned memory writes, whom it waits for, and what comes of one whose answer is lost."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from authority.domain.plan import Committed
from authority.domain.reasons import Reason
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.postgres.record_revocations import PostgresRecordRevocations
from authority.usecases.ports import Clock, DependencyUnavailable, Statements
from authority.usecases.revoke_record import RecordRevocation
from tests.integration.postgres.forwarder import Forwarder
from tests.integration.postgres.superuser import Superuser, are_waiting, gate, until
from tests.world.authority import Authority
from tests.world.stores import SOURCE, Store, connected, postgres_store
from tests.world.world import NAMESPACE, World, all_are, must, reason_of

MORE_THAN_IT_ASKS = 24
TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def told(superuser: Superuser, world: World) -> dict[str, list[tuple[str, int]]]:
    """The types and sequences of every record's events, in their order."""
    rows = await superuser.fetch(
        "select aggregateid, type, sequence from authority.outbox where tenant = $1 order by aggregateid, sequence",
        str(world.tenant),
    )
    events: dict[str, list[tuple[str, int]]] = {}
    for row in rows:
        events.setdefault(row["aggregateid"], []).append((row["type"], row["sequence"]))
    return events


async def test_h10_a_revocation_is_told_by_event_audit_and_feed_and_says_why(
    world: World, superuser: Superuser
) -> None:
    # given a record, when the admin revokes it
    issued, answer = await world.committed(correlation_id="run-1")
    record_id = answer.receipt.record_id
    mark = replace(world.mark(world.admin, "r", "revoke"), trace_id=TRACEPARENT.split("-")[1])
    request = RecordRevocation(mark, record_id, "a colleague asked", TRACEPARENT)
    revoked = must(await world.authority.do.revoke_record(world.admin.calls(), request)).revoked

    # then the record's second event says so
    row = await superuser.fetchrow(
        "select id::text, aggregatetype, sequence, type, payload #>> '{}' as payload, traceparent"
        " from authority.outbox where tenant = $1 and aggregateid = $2 and sequence > 1",
        str(world.tenant),
        record_id,
    )
    assert row
    assert (row["aggregatetype"], row["sequence"], row["traceparent"]) == ("memory_record", 2, TRACEPARENT)
    assert json.loads(row["payload"]) == {
        "specversion": "1.0",
        "id": row["id"],
        "source": SOURCE,
        "type": "memory.revoked.v1",
        "subject": record_id,
        "time": "2023-11-14T22:13:20.000Z",
        "datacontenttype": "application/json",
        "data": {
            "tenant": str(world.tenant),
            "memoryNamespace": NAMESPACE,
            "recordId": record_id,
            "recordVersion": 2,
            "validated": True,
            "receiptId": answer.receipt.receipt_id,
            "memoryType": "durable_fact",
            "provenance": "user_claim",
            "visibility": "workspace",
            "visibilityScope": "",
            "mediaType": "text/plain",
            "contentDigest": "sha256:" + issued.ground.revision.content_digest.hex(),
            "correlationId": "run-1",
            "revocationSequence": revoked.sequence,
        },
    }

    # and so do the audit log, the feed and the tombstone, which keeps the note
    audited = await superuser.fetchrow(
        "select actor, previous_state, next_state, correlation_id, trace_id from authority.audit_event"
        " where tenant = $1 and subject = $2 and kind = 'memory.revoke'",
        str(world.tenant),
        record_id,
    )
    assert audited
    assert tuple(audited) == (str(world.admin.ref), "live", "revoked", "run-1", mark.trace_id)
    fact = await superuser.fetchrow(
        "select sequence, kind, memory_namespace, content_digest from authority.revocation"
        " where tenant = $1 and subject = $2",
        str(world.tenant),
        record_id,
    )
    assert fact
    assert tuple(fact) == (revoked.sequence, "record", NAMESPACE, issued.ground.revision.content_digest)
    notes = await superuser.fetch("select sequence, note from authority.tombstone where tenant = $1", str(world.tenant))
    assert [tuple(note) for note in notes] == [(revoked.sequence, "a colleague asked")]


async def test_g07_i11_a_revocation_waits_for_the_commit_that_runs_and_takes_its_record_along(
    world: World, superuser: Superuser
) -> None:
    # given a record, and a commit of the same content in the middle of its writing
    grounds = [await world.allowed(b"the same") for _ in range(3)]
    first, running, late = [await world.issued_on(ground) for ground in grounds]
    record_id = must(await world.commit(first)).receipt.record_id
    async with gate(superuser) as closed:
        plan = world.plan(running)
        commit = asyncio.create_task(world.carry_out(plan))
        await closed.reached()

        # when the record is revoked, then that waits until the commit has landed
        revocation = asyncio.create_task(world.revoke_record(record_id))
        await until(lambda: are_waiting(superuser, 2))
        assert not revocation.done()
        await closed.open()
        assert isinstance(await commit, Committed)
        revoked = must(await revocation)

    # and what landed is withdrawn with it, and the next commit is refused
    events = [("memory.committed.v1", 1), ("memory.revoked.v1", 2)]
    assert await told(superuser, world) == {record_id: events, plan.record_id: events}
    records = world.authority.store.records
    assert await records.get(world.tenant, plan.record_id, world.user.ref, world.now()) is None
    assert must(await world.revoke_record(plan.record_id)).sequence == revoked.sequence
    assert reason_of(await world.carry_out(world.plan(late))) is Reason.REVOKED
    assert await world.counts() == all_are(2)


# --- whose answer is lost ---------------------------------------------------------------------------------------------


@pytest.fixture
async def way(module_database: str) -> AsyncIterator[Forwarder]:
    """The way of revocations to the database."""
    async with Forwarder(module_database) as forwarder:
        yield forwarder


@pytest.fixture
async def far(module_database: str, way: Forwarder, tmp_path: Path) -> AsyncIterator[World]:
    """A world whose revocations go by a way that can lose answers, over one connection at a time."""
    async with connected(module_database) as databases:
        revoking = Database(await connect_pool(PoolSettings(way.url, Power.ISSUE, most=1)))

        def open_store(clock: Clock, statements: Statements) -> Store:
            store = postgres_store(databases, clock, statements)
            return replace(store, record_revocations=PostgresRecordRevocations(revoking, SOURCE))

        yield await World.begin(Authority.open(tmp_path / "keys", open_store))
        await revoking.close()


async def test_c01_whichever_answer_is_lost_the_same_request_finds_out(
    far: World, way: Forwarder, superuser: Superuser
) -> None:
    # given a revocation, of which the first, the second, … answer of the database is lost
    lost, first = 0, far.now()
    for passed in range(MORE_THAN_IT_ASKS):
        _, answer = await far.committed()
        record_id = answer.receipt.record_id
        way.answers_to_pass, way.answers_to_lose = passed, 1
        try:
            await far.revoke_record(record_id, request_id=f"r{passed}")
        except DependencyUnavailable:
            lost += 1
        way.answers_to_pass = way.answers_to_lose = 0

        # when it is asked for again, then it has happened once, and has the time at which it did
        far.authority.clock.advance(1)
        happened = len((await told(superuser, far))[record_id]) > 1
        again = must(await far.revoke_record(record_id, request_id=f"r{passed}"))
        assert (again.revoke_time, again.replayed) == (first if happened else far.now(), happened)
        assert (await told(superuser, far))[record_id] == [("memory.committed.v1", 1), ("memory.revoked.v1", 2)]
        far.authority.clock.advance(-1)
    assert 8 < lost < MORE_THAN_IT_ASKS, "every answer was lost once, and in the end there was none to lose"
    assert await far.counts() == all_are(MORE_THAN_IT_ASKS)


async def test_c02_a_caller_that_goes_away_at_any_moment_leaves_a_whole_revocation_or_none(
    world: World, superuser: Superuser
) -> None:
    # given a revocation whose caller goes away after so many turns of the loop
    moments = range(0, 120, 5)
    for turns in moments:
        _, answer = await world.committed()
        record_id = answer.receipt.record_id
        task = asyncio.create_task(world.revoke_record(record_id, request_id=f"r{turns}"))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

        # when the same request comes again, then it has happened once
        happened = len((await told(superuser, world))[record_id]) > 1
        assert must(await world.revoke_record(record_id, request_id=f"r{turns}")).replayed is happened
        assert len((await told(superuser, world))[record_id]) == 2
    assert await world.counts() == all_are(len(moments))
