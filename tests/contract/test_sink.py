"""The port `Sink`: what everyone keeps to who takes events. On a list, and on Redis Streams of a real Valkey."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from authority.domain.event import OutboxEvent
from authority.domain.references import Instant, TenantRef
from authority.embedded import start_valkey
from authority.embedded.ports import free_port
from authority.inprocess.sink import InProcessSink
from authority.redis.connection import connect
from authority.redis.stream_consumer import StreamConsumer
from authority.redis.stream_sink import RedisStreamSink, StreamSettings
from authority.usecases.ports import NotTaken, Sink, SinkAway, Taken
from tests.redis_room import Forwarder, operator_at

ONE, OTHER = TenantRef("test", "one"), TenantRef("test", "other")


@dataclass(frozen=True, slots=True)
class Stage:
    """A sink, what it took, and ways to spoil it."""

    sink: Sink
    taken: Callable[[TenantRef], Coroutine[Any, Any, list[tuple[str, bytes]]]]
    """The ids and documents of a tenant's events, in order."""
    spoil: Callable[[TenantRef], Coroutine[Any, Any, None]]
    """From now on it takes nothing of this tenant."""


def event(tenant: TenantRef = ONE, *, sequence: int = 1, subject: str = "") -> OutboxEvent:
    event_id, subject = str(uuid4()), subject or str(uuid4())
    return OutboxEvent(
        tenant=tenant,
        event_id=event_id,
        type="memory.committed.v1",
        subject=subject,
        sequence=sequence,
        payload={"specversion": "1.0", "id": event_id, "data": {"words": "Ä \n \x01 {tenant}"}},
        traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        create_time=Instant(1_800_000_000_000),
    )


async def entries(operator: Redis, settings: StreamSettings, tenant: TenantRef) -> list[dict[bytes, bytes]]:
    """What is on the tenant's stream."""
    found: Any = await operator.xrange(settings.stream_of(tenant))
    return [fields for _, fields in found]


@pytest.fixture
async def operator(redis_url: str) -> AsyncIterator[Redis]:
    async with operator_at(redis_url) as client:
        yield client


def names() -> StreamSettings:
    """Streams that no other test has."""
    return StreamSettings(name=f"sink:{uuid4()}:{{tenant}}", length=1_000)


@pytest.fixture(params=["inprocess", "valkey"])
async def stage(request: pytest.FixtureRequest, redis_url: str, operator: Redis) -> AsyncIterator[Stage]:
    if request.param == "inprocess":
        listed = InProcessSink()

        async def taken_by_list(tenant: TenantRef) -> list[tuple[str, bytes]]:
            return [(one.event_id, one.document()) for one in listed.entries if one.tenant == tenant]

        async def spoil_list(tenant: TenantRef) -> None:
            listed.refused_tenants.add(tenant)

        yield Stage(listed, taken_by_list, spoil_list)
        return
    settings = names()
    streams = RedisStreamSink(connect(redis_url), settings)

    async def taken(tenant: TenantRef) -> list[tuple[str, bytes]]:
        return [(fields[b"id"].decode(), fields[b"data"]) for fields in await entries(operator, settings, tenant)]

    async def spoil(tenant: TenantRef) -> None:
        await operator.set(settings.stream_of(tenant), "no stream", ex=600)

    yield Stage(streams, taken, spoil)
    await streams.aclose()


async def test_what_is_taken_is_there_in_order(stage: Stage) -> None:
    events = [event(), event(), event(OTHER)]
    answers = await stage.sink.publish(events)
    assert all(isinstance(answer, Taken) and answer.position for answer in answers)
    assert await stage.taken(ONE) == [(one.event_id, one.document()) for one in events[:2]]
    assert await stage.taken(OTHER) == [(events[2].event_id, events[2].document())]
    document = json.loads(events[0].document())
    assert document == {**events[0].payload, "traceparent": events[0].traceparent}


async def test_h03_an_event_that_comes_again_has_the_same_id(stage: Stage) -> None:
    one = event()
    await stage.sink.publish([one])
    await stage.sink.publish([one])
    assert [event_id for event_id, _ in await stage.taken(ONE)] == [one.event_id] * 2


async def test_an_event_that_is_refused_is_told_and_takes_no_other_with_it(stage: Stage) -> None:
    await stage.spoil(OTHER)
    events = [event(), event(OTHER), event()]
    answers = await stage.sink.publish(events)
    assert [type(answer) for answer in answers] == [Taken, NotTaken, Taken]
    assert len(await stage.taken(ONE)) == 2


# --- what only Redis can do -------------------------------------------------------------------------------------------


async def test_an_entry_has_the_fields_that_consumers_choose_by(redis_url: str, operator: Redis) -> None:
    # given a stream for all tenants
    settings = StreamSettings(name=f"sink:{uuid4()}")
    sink, one = RedisStreamSink(connect(redis_url), settings), event()
    await sink.publish([one, event(OTHER)])
    await sink.aclose()

    # then both are on it, and each entry names what the document holds
    fields, _ = await entries(operator, settings, ONE)
    assert fields == {
        b"id": one.event_id.encode(),
        b"type": b"memory.committed.v1",
        b"subject": one.subject.encode(),
        b"sequence": b"1",
        b"tenant": b"test|one",
        b"data": one.document(),
    }


async def test_a_stream_keeps_about_as_many_entries_as_it_is_told(redis_url: str, operator: Redis) -> None:
    settings = replace(names(), length=200)
    sink = RedisStreamSink(connect(redis_url), settings)
    for _ in range(5):
        await sink.publish([event() for _ in range(200)])
    await sink.aclose()
    assert 200 <= await operator.xlen(settings.stream_of(ONE)) < 400


async def test_g07_h03_a_consumer_drops_what_it_has_seen_and_what_comes_late(redis_url: str, operator: Redis) -> None:
    # given a record's first event, its second, and then the first again, as a slow relay delivers it
    settings = StreamSettings(name=f"sink:{uuid4()}")
    sink, first = RedisStreamSink(connect(redis_url), settings), event()
    second = event(subject=first.subject, sequence=2)
    for one in (first, second, first):
        await sink.publish([one])
    await sink.aclose()

    # when it is read, then each is acted on once, and the late one by nobody
    consumer = StreamConsumer(operator, settings.name)
    assert [one.event_id for one in await consumer.read(10)] == [first.event_id, second.event_id]
    assert (consumer.dropped, await consumer.read(10)) == (1, [])


async def test_a_redis_that_is_away_is_told_as_such_and_met_again(redis_url: str, operator: Redis) -> None:
    # given an address where nobody answers, then that is told of all events and held against none
    nowhere = RedisStreamSink(connect(f"redis://127.0.0.1:{free_port()}"))
    with pytest.raises(SinkAway):
        await nowhere.publish([event()])
    await nowhere.aclose()

    # given an answer that is lost on its way, then nobody says that the event was taken, though it was
    settings, one = names(), event()
    async with Forwarder(redis_url) as address:
        sink = RedisStreamSink(connect(address.url), settings)
        await sink.publish([event()])
        address.loses_reply_to = re.compile(rb"XADD")
        with pytest.raises(SinkAway):
            await sink.publish([one])
        assert address.lost_replies == 1
        assert await operator.xlen(settings.stream_of(ONE)) == 2

        # when it comes again, then over a fresh connection
        [answer] = await sink.publish([one])
        assert isinstance(answer, Taken)
        await sink.aclose()


async def test_h04_a_redis_that_takes_no_writes_holds_it_against_no_event(tmp_path: Path) -> None:
    # given a server that, for one reason or another, takes nothing
    with start_valkey(tmp_path / "unwilling") as server:
        async with operator_at(server.url) as operator:
            sink = RedisStreamSink(connect(server.url))
            for setting, value, usual in (("maxmemory", 1, 0), ("min-replicas-to-write", 1, 0)):
                await operator.config_set(setting, value)
                with pytest.raises(SinkAway):
                    await sink.publish([event()])
                await operator.config_set(setting, usual)
            await operator.replicaof("127.0.0.1", free_port())
            with pytest.raises(SinkAway, match="ReadOnlyError"):
                await sink.publish([event()])
            await operator.replicaof("NO", "ONE")

            # when it takes writes again, then it takes the event
            [answer] = await sink.publish([event()])
            assert isinstance(answer, Taken)
            await sink.aclose()


@pytest.mark.parametrize("reply", [b"$-1", b"_", b"+OK", b"+QUEUED", b":1", b"$0\r\n", b"*0"])
async def test_h04_what_is_answered_without_a_position_was_taken_by_nobody(reply: bytes) -> None:
    # given something at the address that answers as no stream does
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while count := (await reader.readline())[1:]:
            words = []
            for _ in range(int(count)):
                length = int((await reader.readline())[1:])
                words.append((await reader.readexactly(length + 2))[:-2])
            writer.write((reply if words[0] == b"XADD" else b"+OK") + b"\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    sink = RedisStreamSink(connect(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
    # when events are published, then none of them counts as taken
    answers = await sink.publish([event(), event()])
    assert [type(one) for one in answers] == [NotTaken, NotTaken]
    await sink.aclose()
    server.close()
