"""What the commit of a correction writes, whom it waits for, and that no two corrections of one record land."""

import asyncio
import json

import asyncpg
import pytest

from authority.domain.plan import Committed
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from tests.integration.postgres.superuser import Superuser, are_waiting, gate, trigger, until
from tests.world.stores import SOURCE
from tests.world.world import NAMESPACE, Issued, World, all_are, must, reason_of


async def correcting(world: World, record_id: str) -> Issued:
    """A capability for a correction of the record."""
    return await world.issued_on(await world.allow(must(await world.correct(record_id, correlation_id="run-2"))))


async def superseded(superuser: Superuser, world: World) -> list[tuple[str, str]]:
    """Records that gave way, and to which."""
    rows = await superuser.fetch(
        "select o.record_id::text as old, n.record_id::text as new from authority.memory_record o"
        " join authority.memory_record n on n.tenant = o.tenant and n.record_id = o.superseded_by"
        " where o.tenant = $1 and n.supersedes_record_id = o.record_id and o.supersede_time = n.create_time",
        str(world.tenant),
    )
    return [(row["old"], row["new"]) for row in rows]


async def test_h10_the_commit_of_a_correction_tells_of_both_records(world: World, superuser: Superuser) -> None:
    # given a record, when its correction is committed
    old_issued, answer = await world.committed(correlation_id="run-1")
    old = answer.receipt.record_id
    plan = world.plan(await correcting(world, old))
    assert isinstance(await world.carry_out(plan), Committed)

    # then the old one's second event says what took its place
    rows = await superuser.fetch(
        "select id::text, aggregateid, sequence, type, payload #>> '{}' as payload from authority.outbox"
        " where tenant = $1 and (aggregateid = $2 or aggregateid = $3) order by type, sequence",
        str(world.tenant),
        old,
        plan.record_id,
    )
    assert sorted((row["aggregateid"], row["sequence"], row["type"]) for row in rows) == sorted(
        [
            (old, 1, "memory.committed.v1"),
            (old, 2, "memory.corrected.v1"),
            (plan.record_id, 1, "memory.committed.v1"),
        ]
    )
    [corrected] = [row for row in rows if row["type"] == "memory.corrected.v1"]
    assert json.loads(corrected["payload"]) == {
        "specversion": "1.0",
        "id": corrected["id"],
        "source": SOURCE,
        "type": "memory.corrected.v1",
        "subject": old,
        "time": "2023-11-14T22:13:20.000Z",
        "datacontenttype": "application/json",
        "data": {
            "tenant": str(world.tenant),
            "memoryNamespace": NAMESPACE,
            "recordId": old,
            "recordVersion": 2,
            "receiptId": answer.receipt.receipt_id,
            "memoryType": "durable_fact",
            "provenance": "user_claim",
            "visibility": "workspace",
            "visibilityScope": "",
            "validated": True,
            "mediaType": "text/plain",
            "contentDigest": "sha256:" + old_issued.ground.revision.content_digest.hex(),
            "correlationId": "run-1",
            "supersededBy": plan.record_id,
        },
    }

    # and so does the audit log; and when the old one is revoked, too, then that is its third and last event
    must(await world.revoke_record(old))
    audited = await superuser.fetch(
        "select kind, actor, previous_state, next_state from authority.audit_event"
        " where tenant = $1 and subject = $2 order by event_id",
        str(world.tenant),
        old,
    )
    assert [tuple(row) for row in audited] == [
        ("memory.commit", "test|service", "issued", "consumed"),
        ("memory.correct", "test|service", "live", "superseded"),
        ("memory.revoke", "test|user", "superseded", "revoked"),
    ]
    last = await superuser.fetchrow(
        "select sequence, type from authority.outbox where tenant = $1 and aggregateid = $2 order by sequence desc",
        str(world.tenant),
        old,
    )
    assert last
    assert tuple(last) == (3, "memory.revoked.v1")
    assert await superseded(superuser, world) == [(old, plan.record_id)]


@pytest.mark.parametrize("table", ["memory_record", "outbox", "audit_event"])
async def test_a05_h10_a_correction_whose_second_half_fails_leaves_no_row_and_burns_nothing(
    world: World, superuser: Superuser, table: str
) -> None:
    # given a correction, and a database that refuses what it does to the record that it corrects
    _, answer = await world.committed()
    old = answer.receipt.record_id
    correction = await correcting(world, old)
    event = "update" if table == "memory_record" else "insert"
    when = {"memory_record": "true", "outbox": "new.sequence > 1", "audit_event": "new.kind = 'memory.correct'"}[table]
    async with trigger(superuser, table, f"if {when} then raise exception 'no'; end if;", event):
        with pytest.raises(asyncpg.RaiseError):
            await world.carry_out(world.plan(correction))

    # then nothing is there of it, and it can be committed afterwards
    assert await world.counts() == all_are(1)
    assert await superseded(superuser, world) == []
    new = must(await world.commit(correction)).receipt.record_id
    assert await superseded(superuser, world) == [(old, new)]


async def test_a_corrected_record_that_somebody_has_locked_is_waited_for(world: World, superuser: Superuser) -> None:
    _, answer = await world.committed()
    correction = await correcting(world, answer.receipt.record_id)
    transaction = superuser.transaction()
    await transaction.start()
    await superuser.execute("select 1 from authority.memory_record for no key update")

    # given its row locked, then a commit that waits a moment is told that it runs, and one that waits longer lands
    assert await world.carry_out(world.plan(correction), within_s=0.3) == Refusal(Reason.IN_PROGRESS)
    waiting = asyncio.create_task(world.commit(correction))
    await transaction.rollback()
    assert not must(await waiting).replayed

    # and others were not held up: whoever opens a correction takes no lock that a commit waits for
    assert await world.counts() == all_are(2)


async def test_of_two_processes_that_commit_corrections_of_one_record_one_wins(
    world: World, superuser: Superuser
) -> None:
    # given a correction in the middle of its writing, when another process commits another one
    _, answer = await world.committed()
    old = answer.receipt.record_id
    first, second = await correcting(world, old), await correcting(world, old)
    async with gate(superuser) as closed:
        plan = world.plan(first)
        landing = asyncio.create_task(world.carry_out(plan))
        await closed.reached()
        assert await world.carry_out(world.plan(second), within_s=0.3) == Refusal(Reason.IN_PROGRESS)
        contending = asyncio.create_task(world.carry_out(world.plan(second)))
        await closed.open()
        assert isinstance(await landing, Committed)
        assert reason_of(await contending) is Reason.NOT_VALIDATED
    assert await superseded(superuser, world) == [(old, plan.record_id)]
    assert await world.counts() == all_are(2)


async def test_i11_a_revocation_waits_for_the_correction_that_runs_and_the_next_is_refused(
    world: World, superuser: Superuser
) -> None:
    _, answer = await world.committed()
    old = answer.receipt.record_id
    first, second = await correcting(world, old), await correcting(world, old)
    async with gate(superuser) as closed:
        plan = world.plan(first)
        landing = asyncio.create_task(world.carry_out(plan))
        await closed.reached()
        revocation = asyncio.create_task(world.revoke_record(old))
        await until(lambda: are_waiting(superuser, 2))
        assert not revocation.done()
        await closed.open()
        assert isinstance(await landing, Committed)
        must(await revocation)
    assert reason_of(await world.carry_out(world.plan(second))) is Reason.REVOKED
    assert await superseded(superuser, world) == [(old, plan.record_id)]


async def test_a_head_that_names_another_record_than_was_validated_commits_nothing(
    world: World, superuser: Superuser
) -> None:
    # given a proposal that corrects nothing, and a correction, whose heads somebody changed behind the service
    _, answer = await world.committed()
    record_id = answer.receipt.record_id
    plain, correction = await world.issued(), await correcting(world, record_id)
    for issued, corrects in ((plain, record_id), (correction, None)):
        await superuser.execute(
            "update authority.proposal_head set supersedes_record_id = $1 where proposal_id = $2",
            corrects,
            issued.ground.revision.proposal_id,
        )
        assert reason_of(await world.carry_out(world.plan(issued))) is Reason.NOT_FOUND
    assert await world.counts() == all_are(1)
