"""Writes without validation, in PostgreSQL: all of one or nothing, whoever goes away, and past no withdrawal."""

import asyncio
import json

import pytest

from authority.domain.reasons import Reason
from authority.domain.record import Mode
from authority.postgres.unvalidated_writes import PostgresUnvalidatedWrites
from authority.usecases.ports import DependencyUnavailable, UnvalidatedCounts
from tests.integration.postgres.superuser import Superuser, gate, trigger
from tests.world.unvalidated import recalled, set_mode, write_unvalidated
from tests.world.world import NAMESPACE, TRACE_ID, World, must, reason_of

NONE_YET = UnvalidatedCounts(legacy=0, observed=0, would_refuse=0)
WRITTEN = ("memory_record", "unvalidated_write", "outbox", "audit_event")


async def counts(world: World) -> UnvalidatedCounts:
    return await world.authority.store.unvalidated_reports.count(world.tenant, NAMESPACE)


def writes_of(world: World) -> PostgresUnvalidatedWrites:
    """The real ones."""
    writes = world.authority.store.unvalidated
    assert isinstance(writes, PostgresUnvalidatedWrites)
    return writes


async def test_the_event_of_an_unvalidated_record_says_what_it_is(world: World, superuser: Superuser) -> None:
    await set_mode(world, Mode.LEGACY)
    record = must(await write_unvalidated(world)).written.record

    event = await superuser.fetchrow("select * from authority.outbox where tenant = $1", str(world.tenant))

    assert event
    data = json.loads(event["payload"])["data"]
    assert (event["type"], event["aggregateid"], event["sequence"]) == ("memory.unvalidated.v1", record.record_id, 1)
    assert (data["validated"], data["receiptId"], data["recordId"]) == (False, None, record.record_id)
    assert TRACE_ID in event["traceparent"]


async def test_its_revocation_is_its_second_event_and_says_so_too(world: World, superuser: Superuser) -> None:
    await set_mode(world, Mode.LEGACY)
    record = must(await write_unvalidated(world)).written.record
    must(await world.revoke_record(record.record_id, by=world.service))

    events = await superuser.fetch(
        "select type, payload from authority.outbox where tenant = $1 order by sequence", str(world.tenant)
    )

    assert [event["type"] for event in events] == ["memory.unvalidated.v1", "memory.revoked.v1"]
    assert [json.loads(event["payload"])["data"]["validated"] for event in events] == [False, False]


async def test_c02_c03_a_write_whose_caller_goes_away_inside_it_is_finished_and_replays(
    world: World, superuser: Superuser
) -> None:
    # given a write in the middle of its transaction
    await set_mode(world, Mode.OBSERVE)
    async with gate(superuser, "unvalidated_write") as closed:
        task = asyncio.create_task(write_unvalidated(world, request_id="r"))
        await closed.reached()

        # when its caller goes away, then it goes on
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await counts(world) == NONE_YET
        await closed.open()
        await writes_of(world).close()

    # then it is done, once, and the retry is a replay
    assert (await counts(world)).observed == 1
    assert must(await write_unvalidated(world, request_id="r")).replayed
    assert (await counts(world)).observed == 1


async def test_c02_a_write_whose_caller_goes_away_at_once_happens_once(world: World) -> None:
    # given callers that go away after each number of turns of the loop
    await set_mode(world, Mode.LEGACY)
    for turns in range(8):
        task = asyncio.create_task(write_unvalidated(world, request_id=f"r-{turns}"))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

        # when they come again, then there is one write, by the first call or by the second
        must(await write_unvalidated(world, request_id=f"r-{turns}"))
        assert (await counts(world)).legacy == turns + 1
        assert writes_of(world).running == set()


@pytest.mark.parametrize("table", WRITTEN)
async def test_a05_a_write_that_fails_leaves_no_row_and_uses_nothing_up(
    world: World, superuser: Superuser, table: str
) -> None:
    # given a disk that is full where one of the rows goes
    await set_mode(world, Mode.LEGACY)
    async with trigger(superuser, table, "raise exception 'the disk says no' using errcode = '53100';"):
        with pytest.raises(DependencyUnavailable):
            await write_unvalidated(world, request_id="r")

    # then nothing of it is there, and the same request is taken later
    assert await counts(world) == NONE_YET
    assert await recalled(world) == []
    assert not must(await write_unvalidated(world, request_id="r")).replayed


async def test_i11_nothing_lands_after_a_stricter_mode_was_acknowledged(world: World, superuser: Superuser) -> None:
    # given a write in the middle of its transaction, and an operator who raises the mode meanwhile
    await set_mode(world, Mode.LEGACY)
    async with gate(superuser, "unvalidated_write") as closed:
        writing = asyncio.create_task(write_unvalidated(world))
        await closed.reached()
        raising = asyncio.create_task(set_mode(world, Mode.ENFORCE))
        await closed.reached(by=2)
        assert not raising.done(), "it waits for the write that runs"
        await closed.open()
        must(await writing)
        await raising

    # then that one landed before, and no other does
    assert await recalled(world) == []
    assert len(await recalled(world, with_unvalidated=True)) == 1
    assert reason_of(await write_unvalidated(world, b"late")) is Reason.NOT_VALIDATED
