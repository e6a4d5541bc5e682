"""The port `Outbox`: what every place where events wait keeps to. Each test has an outbox of its own."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from uuid import uuid4

import asyncpg
import pytest

from authority.domain.event import OutboxEvent, OutboxLag
from authority.domain.references import HOUR, MINUTE, SECOND
from authority.inprocess.outbox import InProcessOutbox
from authority.postgres.connections import Database, Power
from authority.usecases.ports import Outbox, Refused
from tests.world.stores import connected
from tests.world.world import World, must

LEASE_MS = 30 * SECOND
LATER = "memory.revoked.v1"


@pytest.fixture
async def databases(fresh_database: str) -> AsyncIterator[Mapping[Power, Database]]:
    """A database of the test's own: whoever claims gets the events of all tenants."""
    async with connected(fresh_database, most=2) as databases:
        yield databases


@pytest.fixture
def outbox(world: World) -> Outbox:
    return world.authority.store.outbox


def token() -> str:
    return str(uuid4())


def ids(events: object) -> list[str]:
    assert isinstance(events, (list, tuple))
    return [event.event_id for event in events]


async def told(world: World, count: int = 1) -> list[str]:
    """The records that so many commits have told the outbox of, each later than the one before."""
    records = []
    for _ in range(count):
        _, answer = await world.committed()
        records.append(answer.receipt.record_id)
        world.authority.clock.advance(SECOND)
    return records


async def delivered(outbox: Outbox) -> list[OutboxEvent]:
    """Delivers one batch."""
    mine = token()
    events = list(await outbox.claim(mine, 100, LEASE_MS))
    assert await outbox.delivered(mine, events) == {event.event_id for event in events}
    return events


async def revoked(world: World, outbox: Outbox, record_id: str) -> str:
    """The id of the event of a record's revocation."""
    must(await world.revoke_record(record_id))
    [event] = [one for one in await outbox.pending(world.tenant, 100) if (one.type, one.subject) == (LATER, record_id)]
    return event.event_id


async def let_pass(world: World, request: pytest.FixtureRequest, milliseconds: int) -> None:
    """So much time for the outbox, whose clock in PostgreSQL nobody sets."""
    world.authority.clock.advance(milliseconds)
    if not isinstance(world.authority.store.outbox, InProcessOutbox):
        connection = await asyncpg.connect(request.getfixturevalue("fresh_database"))
        await connection.execute(
            "update authority.outbox set claim_until_time = claim_until_time - $1 * interval '1 ms',"
            " retry_time = retry_time - $1 * interval '1 ms', delivered_time = delivered_time - $1 * interval '1 ms'",
            milliseconds,
        )
        await connection.close()


async def test_an_event_tells_of_its_record_as_a_cloud_event(world: World, outbox: Outbox) -> None:
    # given a commit
    issued, answer = await world.committed()

    # when its event is claimed
    [event] = await outbox.claim(token(), 10, LEASE_MS)

    # then it says which record, at which version, who may see it, and what it is of
    assert (event.tenant, event.type, event.sequence) == (world.tenant, "memory.committed.v1", 1)
    assert event.subject == answer.receipt.record_id
    document = json.loads(event.document())
    assert document == {**event.payload, "traceparent": event.traceparent}
    assert document["specversion"] == "1.0"
    assert (document["id"], document["type"], document["subject"]) == (event.event_id, event.type, event.subject)
    assert document["source"] == "authority.test"
    data, revision = document["data"], issued.ground.revision
    assert data["tenant"] == str(world.tenant)
    assert (data["recordId"], data["recordVersion"], data["validated"]) == (event.subject, 1, True)
    assert data["receiptId"] == answer.receipt.receipt_id
    assert (data["visibility"], data["visibilityScope"]) == (revision.visibility.value, revision.visibility_scope)
    assert data["contentDigest"] == f"sha256:{revision.content_digest.hex()}"
    assert set(data) == {
        "tenant", "memoryNamespace", "recordId", "recordVersion", "validated", "receiptId", "memoryType", "provenance",
        "visibility", "visibilityScope", "mediaType", "contentDigest", "correlationId",
    }  # fmt: skip
    # and it names a trace only where there is one
    assert json.loads(replace(event, traceparent="").document()) == event.payload


async def test_the_oldest_are_claimed_first_and_by_one(world: World, outbox: Outbox) -> None:
    records = await told(world, 3)
    one, other = token(), token()
    first, second = await outbox.claim(one, 2, LEASE_MS), await outbox.claim(other, 2, LEASE_MS)
    assert [event.subject for event in (*first, *second)] == records
    assert await outbox.claim(token(), 2, LEASE_MS) == []


async def test_what_is_delivered_is_claimed_no_more(world: World, outbox: Outbox) -> None:
    await told(world, 2)
    assert len(await delivered(outbox)) == 2
    assert await delivered(outbox) == []
    assert await outbox.lag() == OutboxLag(0, 0, None)


async def test_h09_a_claim_that_is_never_settled_is_free_when_its_lease_ends(
    world: World, outbox: Outbox, request: pytest.FixtureRequest
) -> None:
    # given a relay that died with its claims
    await told(world, 2)
    dead, mine = token(), token()
    events = await outbox.claim(dead, 10, LEASE_MS)

    # when its lease ends, and no sooner, then another gets the same events
    await let_pass(world, request, LEASE_MS - 20 * SECOND)
    assert await outbox.claim(mine, 10, LEASE_MS) == []
    await let_pass(world, request, 20 * SECOND + 1)
    assert list(await outbox.claim(mine, 10, LEASE_MS)) == events

    # and whoever was only slow settles nothing that is another's by now
    assert await outbox.delivered(dead, events) == set()
    assert await outbox.put_back(dead, events) == set()
    assert await outbox.retry(dead, [Refused(event, "no", 0) for event in events]) == set()
    assert await outbox.park(dead, [Refused(event, "no", 0) for event in events]) == set()
    assert await outbox.delivered(mine, events) == set(ids(events))


async def test_what_is_put_back_is_free_at_once_and_has_nothing_against_it(world: World, outbox: Outbox) -> None:
    await told(world)
    mine = token()
    events = await outbox.claim(mine, 10, LEASE_MS)
    assert await outbox.put_back(mine, events) == set(ids(events))
    assert await outbox.claim(token(), 10, LEASE_MS) == events
    assert [event.attempts for event in events] == [0]


async def test_a_refused_event_waits_for_its_time(world: World, outbox: Outbox, request: pytest.FixtureRequest) -> None:
    # given an event that the sink refused
    await told(world)
    mine = token()
    [event] = await outbox.claim(mine, 10, LEASE_MS)
    assert await outbox.retry(mine, [Refused(event, "too large", 10 * MINUTE)]) == {event.event_id}

    # then it waits, and says why
    assert await outbox.claim(token(), 10, LEASE_MS) == []
    [waiting] = await outbox.pending(world.tenant, 10)
    assert (waiting.event_id, waiting.attempts, waiting.last_error) == (event.event_id, 1, "too large")

    # and comes again after its time
    await let_pass(world, request, 10 * MINUTE + 1)
    assert list(await outbox.claim(token(), 10, LEASE_MS)) == [replace(event, attempts=1)]


@pytest.mark.parametrize("state", ["pending", "claimed", "refused", "parked"])
async def test_h06_a_revocation_waits_while_its_records_commit_is_not_delivered(
    world: World, outbox: Outbox, state: str
) -> None:
    # given two events of one record, the first of them in this state, and one of another record
    [record] = await told(world)
    second = await revoked(world, outbox, record)
    mine, first = token(), None
    if state != "pending":
        [first] = await outbox.claim(mine, 1, LEASE_MS)
        refused = [Refused(first, "no", 10 * MINUTE)]
        if state == "refused":
            await outbox.retry(mine, refused)
        if state == "parked":
            await outbox.park(mine, refused)
    [other] = await told(world)

    # then the second is not to be had, and the other record's is
    claimed = await outbox.claim(token(), 10, LEASE_MS)
    assert [event.subject for event in claimed] == ([record, other] if state == "pending" else [other])
    assert second not in ids(claimed)

    # and once the first is delivered the second is
    if first is not None and state == "claimed":
        await outbox.delivered(mine, [first])
        assert ids(await outbox.claim(token(), 10, LEASE_MS)) == [second]


async def test_a_parked_event_is_listed_and_replayed(world: World, outbox: Outbox) -> None:
    # given an event that was given up, one that waits, and a neighbour's that was given up
    neighbour = await world.neighbour()
    for one in (world, neighbour):
        await told(one)
        mine = token()
        events = await outbox.claim(mine, 10, LEASE_MS)
        await outbox.park(mine, [Refused(event, f"never by {one.tenant.id}", 0) for event in events])
    [ours] = await outbox.parked(world.tenant, 10)
    await told(world)

    # then both lists say so
    assert (ours.attempts, ours.last_error) == (1, f"never by {world.tenant.id}")
    assert ours.park_time is not None
    assert len(await outbox.parked(None, 10)) == 2
    assert len(await outbox.parked(None, 1)) == 1
    assert ours.event_id not in {event.event_id for event in await outbox.pending(None, 10)}
    lag = await outbox.lag()
    assert (lag.pending, lag.parked) == (1, 2)
    assert lag.oldest_age_ms is not None

    # when it is replayed, then it is pending as if never tried, and the neighbour's is parked still
    assert await outbox.replay(ours.event_id, neighbour.tenant) == set()
    assert await outbox.replay(ours.event_id, world.tenant) == {ours.event_id}
    assert await outbox.replay(ours.event_id, None) == set()
    events = await outbox.claim(token(), 10, LEASE_MS)
    assert {event.event_id: event.attempts for event in events}[ours.event_id] == 0
    assert len(await outbox.replay(None, None)) == 1
    assert await outbox.parked(None, 10) == []


async def test_h11_only_what_was_delivered_long_ago_is_forgotten(
    world: World, outbox: Outbox, request: pytest.FixtureRequest
) -> None:
    # given delivered events of some age, one that is fresh, one pending, one parked
    [record, *_] = await told(world, 3)
    assert len(await delivered(outbox)) == 3
    await told(world)
    mine = token()
    await outbox.park(mine, [Refused(one, "no", 0) for one in await outbox.claim(mine, 1, LEASE_MS)])
    await told(world)
    await let_pass(world, request, 2 * HOUR)
    await told(world)
    assert len(await delivered(outbox)) == 2
    await told(world)

    # when what is an hour old is forgotten, a few at a time
    forgotten = [await outbox.prune(HOUR, 2) for _ in range(3)]

    # then it is those, and no other
    assert forgotten == [2, 1, 0]
    lag = await outbox.lag()
    assert (lag.pending, lag.parked) == (1, 1)

    # and the next event of a record whose first one is forgotten is its second all the same
    must(await world.revoke_record(record))
    [waiting] = [event for event in await outbox.pending(world.tenant, 10) if event.subject == record]
    assert (waiting.type, waiting.sequence) == (LATER, 2)
