"""What Redis forgets, or is made to say falsely, changes no answer (cases A17, B04, B11)."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import Site
from tests.faults.redis_moods.scene import committed_and_cached, operator, reads_again
from tests.installation.copies import copied
from tests.installation.gates import gate
from tests.installation.leases import has_lease, has_receipt
from tests.installation.processes import eventually
from tests.installation.team import Team


async def test_b04_a_flush_between_commit_and_replay_is_not_noticed(site: Site, patient: Team, mended: None) -> None:
    # Given a commit, whose receipt is cached
    ready = await patient.ready()
    first = await committed_and_cached(site, patient, ready)
    # When Redis forgets everything
    with operator(site.valkey.url) as redis:
        redis.flushall()
    # Then the retry is answered from PostgreSQL, byte for byte, and cached again
    again = await patient.commit(ready)
    assert (again.replayed, again.receipt.statement) == (True, first.receipt.statement)
    await eventually(lambda: has_receipt(site.valkey.url, first), "the receipt is cached again")


async def test_b11_scripts_that_are_forgotten_during_a_commit_do_not_keep_its_key(
    site: Site, patient: Team, mended: None
) -> None:
    # Given a service whose scripts Redis knows, and a commit that stands still inside the database
    await patient.commit(await patient.ready())
    ready = await patient.ready()
    with gate(site.installation.admin_url, "memory_record") as closed:
        running = asyncio.create_task(patient.commit(ready))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        await eventually(lambda: has_lease(site.valkey.url, ready), "the lease is taken")
        # When Redis forgets all scripts
        with operator(site.valkey.url) as redis:
            redis.script_flush()
        closed.open()
        first = await running
    # Then the lease is given back at once, not after its life
    assert not first.replayed
    await eventually(lambda: not has_lease(site.valkey.url, ready), "the lease is given back", within_s=15)


async def test_a17_b04_a_false_entry_in_the_cache_is_not_believed(site: Site, patient: Team, mended: None) -> None:
    # Given two commits
    one, other = await patient.ready(), await patient.ready()
    first, second = [await committed_and_cached(site, patient, ready) for ready in (one, other)]
    # When somebody gives each cached receipt the other's name, or makes it nonsense
    with operator(site.valkey.url) as redis:
        names = list(redis.scan_iter("*:replay:*"))
        values: list[Any] = [redis.get(name) for name in names]
        for name, value in zip(names, [*values[1:], values[0]], strict=True):
            redis.set(name, value)
        assert len(set(values)) >= 2
    # Then each retry still gets its own receipt
    for ready, committed in ((one, first), (other, second)):
        again = await patient.commit(ready)
        assert (again.replayed, again.receipt.statement) == (True, committed.receipt.statement)
    with operator(site.valkey.url) as redis:
        for name in names:
            redis.set(name, b"R1nonsense")
    assert (await patient.commit(one)).receipt.statement == first.receipt.statement


async def test_a17_a_redis_restored_from_an_older_copy_of_itself_changes_no_answer(
    site: Site, patient: Team, mended: None, tmp_path: Path
) -> None:
    # Given a commit that stands still inside the database, and a copy of Redis in which it has the lease
    ready, cached = await patient.ready(), await patient.ready()
    with gate(site.installation.admin_url, "memory_record") as closed:
        running = asyncio.create_task(patient.commit(ready))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        await eventually(lambda: has_lease(site.valkey.url, ready), "the lease is taken")
        site.valkey.stop()
        older = copied(site.valkey.folder, tmp_path / "older")
        site.valkey.start()
        # And what came after the copy: it is committed, and so is another
        closed.open()
        first = await running
    await reads_again(patient.service)
    second = await committed_and_cached(site, patient, cached)
    # When Redis is restored from the copy
    site.valkey.stop()
    shutil.rmtree(site.valkey.folder)
    copied(older, site.valkey.folder)
    site.valkey.start()
    assert has_lease(site.valkey.url, ready)
    assert not has_receipt(site.valkey.url, second)
    # Then both are answered from PostgreSQL, and the lease that nobody holds is in nobody's way
    for one, committed in ((ready, first), (cached, second)):
        again = await patient.commit(one)
        assert (again.replayed, again.receipt.statement) == (True, committed.receipt.statement)


@pytest.mark.parametrize("within", ["commit_receipt", "outbox"])
async def test_b04_a_flush_during_a_commit_lets_a_second_caller_in_but_no_second_row(
    site: Site, patient: Team, mended: None, within: str
) -> None:
    # Given a commit that stands still inside the database
    ready = await patient.ready()
    with gate(site.installation.admin_url, within) as closed:
        running = asyncio.create_task(patient.commit(ready))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        # When Redis forgets its lease, and the same commit comes again
        with operator(site.valkey.url) as redis:
            redis.flushall()
        repeated = asyncio.create_task(patient.commit(ready))
        await eventually(lambda: has_lease(site.valkey.url, ready), "the second caller is let in")
        # Then it waits for the first, and both have one receipt
        assert not repeated.done()
        closed.open()
        first, second = await running, await repeated
    assert [first.replayed, second.replayed] == [False, True]
    assert first.receipt.statement == second.receipt.statement
