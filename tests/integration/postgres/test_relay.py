"""The relay on a real outbox: transactions that end late, relays beside each other, dead ones, and very many rows."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping

import asyncpg
import pytest

from authority.bootstrap.system import TimeOrderedIds
from authority.domain.references import DAY, SECOND
from authority.inprocess.sink import InProcessSink
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.postgres.outbox import PostgresOutbox
from authority.postgres.relay_wake import OutboxListener, RelayWake
from authority.usecases.relay import Relay, RelaySettings
from tests.integration.postgres.superuser import Superuser
from tests.redis_room import eventually

WITHIN_S = 20.0
A_MINUTE_S = 60.0
TELL = """
insert into authority.outbox (
  tenant, id, aggregatetype, aggregateid, sequence, type, payload, traceparent, create_time, delivered_time)
select 'test|told', gen_random_uuid(), 'memory_record', gen_random_uuid(), 1, 'memory.committed.v1', '{"data": {}}', '',
  now() - n * interval '1 ms', case when $2 then now() - interval '1 hour' end
from generate_series(1, $1::integer) n
returning aggregateid
"""


@pytest.fixture
async def clean(superuser: Superuser) -> Superuser:
    """An outbox without an event."""
    await superuser.execute("truncate authority.outbox, authority.outbox_parked")
    return superuser


@pytest.fixture
def outbox(databases: Mapping[Power, Database]) -> PostgresOutbox:
    return PostgresOutbox(databases[Power.RELAY])


def relay(outbox: PostgresOutbox, sink: InProcessSink, **settings: int) -> Relay:
    return Relay(outbox, sink, TimeOrderedIds(), RelaySettings(**settings))


async def tell(superuser: Superuser, count: int, *, delivered: bool = False) -> list[str]:
    """So many events, each of a record of its own, which is answered with."""
    return [row["aggregateid"] for row in await superuser.fetch(TELL, count, delivered)]


def heard(sink: InProcessSink) -> list[str]:
    return [entry.subject for entry in sink.entries]


async def test_h01_an_event_whose_transaction_ends_late_is_delivered(
    clean: Superuser, outbox: PostgresOutbox, module_database: str
) -> None:
    # given a transaction that has written its event and stays open, and a later one that has ended
    sink, late = InProcessSink(), await asyncpg.connect(module_database)
    transaction = late.transaction()
    await transaction.start()
    [first] = await tell(late, 1)
    [second] = await tell(clean, 1)

    # when the relay has read past it, and then it commits
    await relay(outbox, sink).drain()
    assert heard(sink) == [second]
    await transaction.commit()
    await late.close()

    # then its event is delivered all the same
    await relay(outbox, sink).drain()
    assert heard(sink) == [second, first]


async def test_h06_relays_beside_each_other_share_the_work_and_deliver_nothing_twice(
    clean: Superuser, outbox: PostgresOutbox
) -> None:
    told = await tell(clean, 60)
    sinks = [InProcessSink() for _ in range(3)]
    relays = [relay(outbox, sink, batch=5) for sink in sinks]
    for _ in range(4):
        assert await asyncio.gather(*(one.turn() for one in relays)) == [5, 5, 5]
    assert sorted(record for sink in sinks for record in heard(sink)) == sorted(told)
    assert [one.tally.lost for one in relays] == [0, 0, 0]


async def test_h09_what_a_dead_relay_had_in_hand_is_delivered_within_a_minute(
    clean: Superuser, outbox: PostgresOutbox
) -> None:
    # given a relay that claimed everything, and died
    told = await tell(clean, 232)
    claimed = await outbox.claim(TimeOrderedIds().new(), 1_000, 2 * SECOND)
    assert len(claimed) == 232

    # when another runs, then everything is delivered soon after the dead one's lease
    sink = InProcessSink()
    living = relay(outbox, sink, poll_ms=100)
    begun, task = time.monotonic(), asyncio.create_task(living.run())
    await eventually(lambda: living.tally.delivered == 232, A_MINUTE_S)
    living.stop()
    await task
    assert time.monotonic() - begun < A_MINUTE_S
    assert sorted(heard(sink)) == sorted(told)


async def test_a_relay_cut_off_from_its_database_goes_on_when_it_is_there_again(
    clean: Superuser, outbox: PostgresOutbox
) -> None:
    # given a relay that runs, when its connections are cut, and an event comes
    sink = InProcessSink()
    running = relay(outbox, sink, poll_ms=20, first_pause_ms=20)
    task = asyncio.create_task(running.run())
    await tell(clean, 1)
    await eventually(lambda: running.tally.delivered == 1, WITHIN_S)
    await clean.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where application_name = 'authority_relay' and datname = current_database()"
    )
    await tell(clean, 1)

    # then that is delivered, too
    await eventually(lambda: running.tally.delivered == 2, WITHIN_S)
    running.stop()
    await task


async def test_h11_however_many_were_delivered_a_look_for_events_reads_a_few_pages(
    clean: Superuser, outbox: PostgresOutbox, module_database: str
) -> None:
    # given many delivered events and none that waits, in a table that was analysed while it seemed empty
    writer = await asyncpg.connect(module_database)
    async with writer.transaction():
        await tell(writer, 60_000, delivered=True)
        await clean.execute("analyze authority.outbox")
    await writer.close()
    pages = await clean.fetchval("select pg_relation_size('authority.outbox') / 8192")
    assert pages > 1_000

    # when the relay looks, then it reads next to nothing (the first time it also reads the catalog, to plan)
    await pages_read(clean)
    assert await pages_read(clean) < 10

    # and with some that wait, a little for each, one of which is held back by another
    records = await tell(clean, 50)
    await clean.execute(
        "insert into authority.outbox (tenant, id, aggregatetype, aggregateid, sequence, type, payload, traceparent,"
        " create_time) values ('test|told', gen_random_uuid(), 'memory_record', $1, 2, 'memory.revoked.v1', '{}', '',"
        " now())",
        records[0],
    )
    assert await pages_read(clean, claimed=50) < 50 * 20

    # when they are pruned, a few at a time, then each batch reads what it deletes, and none that waits goes
    relay_of_old = relay(outbox, InProcessSink(), kept_ms=60 * SECOND)
    await relay_of_old.prune()
    assert relay_of_old.tally.pruned == 10_000
    await relay(outbox, InProcessSink(), kept_ms=DAY).prune()
    assert await clean.fetchval("select count(*) from authority.outbox") == 50_051


async def test_h11_while_an_old_snapshot_is_held_looks_pass_over_what_was_delivered_since(
    clean: Superuser, module_database: str
) -> None:
    # given somebody who looks at the database as it was, and much that was delivered meanwhile
    old = await asyncpg.connect(module_database)
    async with old.transaction(isolation="repeatable_read"):
        assert await old.fetchval("select count(*) from authority.outbox") == 0
        await tell(clean, 3_000)
        await clean.execute("update authority.outbox set delivered_time = now()")

        # then a whole look has to read past all of that, and those in between pass it over
        await pages_read(clean)
        assert await pages_read(clean, since="now()") < 10 < await pages_read(clean)
    await old.close()


async def pages_read(superuser: Superuser, claimed: int = 0, since: str = "null") -> int:
    """The pages that one look for events touches; as many as `claimed` must be found, and are claimed by nobody."""
    await superuser.execute("set role authority_relay")
    look = f"select * from authority.claim_events(gen_random_uuid(), '0', 99, {since})"  # noqa: S608 - our own
    statement = f"explain (analyze, buffers, format json) {look}"
    [plan] = json.loads(await superuser.fetchval(statement))
    await superuser.execute("reset role")
    assert plan["Plan"]["Actual Rows"] == claimed
    return int(plan["Plan"]["Shared Hit Blocks"]) + int(plan["Plan"]["Shared Read Blocks"])


# --- being woken ------------------------------------------------------------------------------------------------------


@pytest.fixture
async def called(module_database: str, superuser: Superuser) -> AsyncIterator["asyncio.Queue[None]"]:
    """Calls of a listener; it has begun to listen."""
    calls: asyncio.Queue[None] = asyncio.Queue()
    listener = OutboxListener(module_database, lambda: calls.put_nowait(None), again_after_s=0.01)
    task = asyncio.create_task(listener.run())
    await asyncio.wait_for(calls.get(), WITHIN_S)
    yield calls
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_whoever_listens_is_called_after_a_commit(
    called: "asyncio.Queue[None]", databases: Mapping[Power, Database]
) -> None:
    wake = RelayWake(databases[Power.COMMIT])
    wake.wake()
    await asyncio.wait_for(called.get(), WITHIN_S)
    await wake.close()


async def test_a_listener_that_is_cut_off_listens_again(called: "asyncio.Queue[None]", superuser: Superuser) -> None:
    await superuser.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'authority_relay listens'"
        " and datname = current_database()"
    )
    # It calls by itself once it listens again, for it may have missed something.
    await asyncio.wait_for(called.get(), WITHIN_S)
    await superuser.execute("select pg_notify('authority_outbox', '')")
    await asyncio.wait_for(called.get(), WITHIN_S)


async def test_a_database_that_was_never_migrated_is_no_outbox_and_is_told_as_a_defect(fresh_database: str) -> None:
    # given an outbox of another version
    connection = await asyncpg.connect(fresh_database)
    await connection.execute("drop function authority.claim_events")
    await connection.close()
    database = Database(await connect_pool(PoolSettings(fresh_database, Power.RELAY, most=1)))
    # then the relay ends instead of trying for ever
    with pytest.raises(asyncpg.UndefinedFunctionError):
        await relay(PostgresOutbox(database), InProcessSink()).run()
    await database.close()
