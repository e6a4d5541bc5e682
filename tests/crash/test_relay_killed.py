"""Relays that are killed, stopped and beside each other, as a consumer of their stream sees it."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from uuid import uuid4

import pytest

from authority.redis.stream_consumer import ReceivedEvent, StreamConsumer
from capability_authority.client import Committed
from tests.crash.conftest import Site
from tests.installation.gates import gate
from tests.installation.installation import Tenant
from tests.installation.processes import eventually
from tests.installation.relays import Relays, relays_of
from tests.installation.team import Team, all_of
from tests.redis_room import operator_at

SETTINGS = {"relay_lease_s": "2", "relay_batch": "5", "relay_poll_s": "0.2"}
MARKED = "new.delivered_time is not null"
COMMITTED, REVOKED = "memory.committed.v1", "memory.revoked.v1"


@dataclass(slots=True)
class Stream:
    """The tenant's stream, and what was read from it."""

    consumer: StreamConsumer
    heard: list[ReceivedEvent]

    async def of(self, count: int) -> list[ReceivedEvent]:
        """So many new events, once they have come."""
        for _ in range(200):
            self.heard += await self.consumer.read(100)
            if len(self.heard) >= count:
                break
        assert len(self.heard) == count, self.heard
        return self.heard

    async def length(self) -> int:
        """How many entries there are, those that are no news included."""
        return int(await self.consumer.client.xlen(self.consumer.stream))


@pytest.fixture
def name() -> str:
    return f"crash:{uuid4()}"


@pytest.fixture
async def stream(site: Site, crash_tenant: Tenant, name: str) -> AsyncIterator[Stream]:
    async with operator_at(site.installation.redis_url) as client:
        yield Stream(StreamConsumer(client, f"{name}:{crash_tenant.ref}"), [])


@pytest.fixture
def relays(site: Site, name: str) -> Iterator[Relays]:
    """They find none of the events of other tests, which nobody delivered."""
    site.storage.ask("update authority.outbox set delivered_time = now() where delivered_time is null")
    with relays_of(site.installation, {**SETTINGS, "event_stream": f"{name}:{{tenant}}"}) as relays:
        yield relays


async def committed(team: Team, count: int) -> list[Committed]:
    return await all_of([team.commit(await team.ready()) for _ in range(count)])


async def test_h03_a_relay_killed_after_publishing_delivers_again_under_the_same_id(
    site: Site, relays: Relays, stream: Stream, survivors: Team
) -> None:
    # given a relay that has published what was committed, and is about to mark it
    commits = await committed(survivors, 3)
    with gate(site.installation.admin_url, "outbox", "update", when=MARKED) as closed:
        doomed = await relays.delivering()
        await eventually(lambda: bool(closed.waiting()), "the relay is about to mark")
        first = await stream.of(3)

        # when it is killed, and its connections with it
        await doomed.kill()
        closed.break_off()

    # then the next one delivers all of it again, under the same ids, and a consumer acts on each once
    before = await stream.length()
    living = await relays.delivering()
    await eventually(lambda: pending(site, survivors) == 0, "everything is delivered")
    assert before == 3
    assert await stream.length() == 6
    assert await stream.consumer.read(10) == []
    assert stream.consumer.dropped == 3
    assert {event.subject for event in first} == {one.record_id for one in commits}
    assert (await living.stop())["parked"] == 0


async def test_h06_two_relays_one_of_them_killed_never_show_a_revocation_before_its_commit(
    site: Site, relays: Relays, stream: Stream, survivors: Team
) -> None:
    # given two relays that take a few events at a time, and records that are committed and revoked meanwhile
    doomed, living = await relays.delivering(), await relays.delivering()
    commits = await committed(survivors, 12)
    await all_of([survivors.user.revoke_record(one) for one in commits[:6]])

    # when one is killed, and more is committed and revoked
    await doomed.kill()
    await all_of([survivors.user.revoke_record(one) for one in commits[6:]])

    # then a consumer that drops what comes late has heard of each commit, and of each revocation after it
    heard = await stream.of(24)
    for one in commits:
        assert [event.type for event in heard if event.subject == one.record_id] == [COMMITTED, REVOKED]
    await eventually(lambda: pending(site, survivors) == 0, "everything is delivered")
    done = await living.stop()
    assert (done["refused"], done["parked"]) == (0, 0)
    assert done["delivered"] > 0


def pending(site: Site, team: Team) -> int:
    """How many of the tenant's events are not marked."""
    statement = "select count(*) from authority.outbox where tenant = %s and delivered_time is null"
    return int(site.storage.one(statement, str(team.tenant.ref)))
