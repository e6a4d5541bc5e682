"""Whoever listens to the database of a running service is told that something was committed."""

import asyncio

import asyncpg

from authority.postgres.relay_wake import OUTBOX_CHANNEL
from tests.installation.installation import Installation
from tests.installation.team import Team


async def test_a_commit_of_the_service_wakes_whoever_listens(installation: Installation, team: Team) -> None:
    # Given somebody who listens for events
    woken = asyncio.Event()
    connection = await asyncpg.connect(installation.admin_url)
    await connection.add_listener(OUTBOX_CHANNEL, lambda *_: woken.set())
    # When a record is committed
    committed = await team.commit(await team.ready())
    # Then it is woken, and finds the record's event
    await asyncio.wait_for(woken.wait(), 20)
    events = await connection.fetchval(
        "select count(*) from authority.outbox where aggregateid = $1", committed.record_id
    )
    assert events == 1
    await connection.close()
