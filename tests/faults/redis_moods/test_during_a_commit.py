"""Redis that goes away, or forgets, while a commit is under way: one row, and no key that stays taken."""

import asyncio

import pytest
from redis import Redis
from redis.exceptions import RedisError

from tests.faults.conftest import Site
from tests.faults.redis_moods.scene import (
    MOODS,
    mend,
    operator,
)
from tests.installation.gates import gate
from tests.installation.leases import has_lease
from tests.installation.processes import eventually
from tests.installation.storage import Storage
from tests.installation.team import Ready, Team, team_at


@pytest.mark.parametrize("mood", MOODS)
async def test_b05_redis_that_goes_away_during_a_commit_does_not_hinder_it(
    site: Site, patient: Team, mended: None, mood: str
) -> None:
    # Given a commit whose lease is taken, and that stands still inside the database
    ready = await patient.ready()
    with gate(site.installation.admin_url, "memory_record") as closed:
        running = asyncio.create_task(patient.commit(ready))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        await eventually(lambda: has_lease(site.valkey.url, ready), "the lease is taken")
        # When Redis goes away before the lease is given back
        MOODS[mood][0](site)
        closed.open()
        # Then the commit is answered
        first = await running
    assert not first.replayed
    # And the key can be asked for again at once, though its lease may still be there
    mend(site)
    again = await patient.commit(ready)
    assert (again.replayed, again.receipt.statement) == (True, first.receipt.statement)


async def test_b10_an_evicted_lease_lets_a_second_caller_in_but_no_second_row(
    site: Site, patient: Team, broken_storage: Storage, mended: None
) -> None:
    # Given a Redis that evicts, of which a service that starts warns
    with operator(site.valkey.url) as redis:
        redis.config_set("maxmemory-policy", "allkeys-lru")
        process = await site.processes.serving()
        assert "evict" in process.said
        ready = await patient.ready()
        with gate(site.installation.admin_url, "commit_receipt") as closed:
            running = asyncio.create_task(patient.commit(ready))
            await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
            # When a neighbour writes so much that the lease of a running commit is evicted
            redis.config_set("maxmemory", str(redis.info("memory")["used_memory"] + 1_000_000))
            _write_until_evicted(site, redis, ready)
            async with team_at(process.address, patient.tenant) as second:
                repeated = asyncio.create_task(second.commit(ready))
                await eventually(lambda: has_lease(site.valkey.url, ready), "the second caller is let in")
                # Then it has to wait for the first, and both have one receipt
                assert [running.done(), repeated.done()] == [False, False]
                closed.open()
                assert (await running).receipt.statement == (await repeated).receipt.statement
    one = "select count(*) from authority.memory_record where tenant = %s"
    assert broken_storage.one(one, str(patient.tenant.ref)) == 1


def _write_until_evicted(site: Site, redis: Redis, ready: Ready) -> None:
    for number in range(20_000):
        try:
            redis.set(f"neighbour-{number}", b"x" * 2_000)
        except RedisError:
            continue
        if number % 50 == 0 and not has_lease(site.valkey.url, ready):
            return
    raise AssertionError("the lease was not evicted")
