"""Redis in its moods, in the whole service: commits are right, no read is let through, nothing is restarted."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from redis import Redis
from redis.exceptions import RedisError

from capability_authority.client import CapabilityAuthority, NotFound, Unavailable
from capability_authority.v1.capability_service_pb2 import GetCommitReceiptRequest, StreamCommitValidatedRequest
from tests.faults.conftest import Site
from tests.installation.gates import gate
from tests.installation.leases import has_lease
from tests.installation.processes import eventually
from tests.installation.requests import commit_of
from tests.installation.storage import Storage
from tests.installation.team import ONCE, Ready, Team, refused, team_at
from tests.installation.wire import Wire

A_SMALL_PART_OF_A_DEADLINE_S = 1.0
"""Two waits of 50 ms, and what a busy machine adds; each call here may take 30 s."""


@contextmanager
def _operator(site: Site) -> Iterator["Redis"]:
    with Redis.from_url(site.valkey.url) as redis:
        yield redis


def _stopped(site: Site) -> None:
    site.valkey.kill()


def _hung(site: Site) -> None:
    site.valkey.pause()


def _read_only(site: Site) -> None:
    with _operator(site) as redis:
        redis.replicaof("127.0.0.1", "1")


def _full(site: Site) -> None:
    with _operator(site) as redis:
        redis.config_set("maxmemory", "1")


def _flushed(site: Site) -> None:
    with _operator(site) as redis:
        redis.flushall()


def _mend(site: Site) -> None:
    site.valkey.resume() if site.valkey.is_running else site.valkey.restart()
    with _operator(site) as redis:
        redis.replicaof("NO", "ONE")
        redis.config_set("maxmemory", "256mb")
        redis.config_set("maxmemory-policy", "noeviction")


@pytest.fixture
async def mended(site: Site, patient: Team) -> AsyncIterator[None]:
    """After the test Redis is well, and the service knows."""
    yield
    _mend(site)
    await _reads_again(patient.service)


MOODS = {"b05_stopped": _stopped, "b05_hung": _hung, "b07_read_only": _read_only, "b08_full": _full}


async def _reads_again(service: CapabilityAuthority) -> None:
    """Returns once reads by Invocation are served; there is no such receipt."""
    await refused(service.get_receipt(commit_idempotency_key="none"), NotFound)


@pytest.mark.parametrize("mood", MOODS)
async def test_without_redis_commits_go_on_and_reads_are_unavailable(
    site: Site, patient: Team, wire: Wire, mended: None, mood: str
) -> None:
    # Given a settled commit, and another capability
    settled, ready = await patient.ready(), await patient.ready()
    first = await patient.commit(settled)
    # When Redis is of no use
    MOODS[mood](site)
    async with team_at(site.service.address, patient.tenant, retries=ONCE) as impatient:
        # Then commits and replays go on, from PostgreSQL alone and without much waiting
        begun = time.monotonic()
        assert not (await impatient.commit(ready)).replayed
        assert (await impatient.commit(ready)).replayed
        assert (await impatient.commit(settled)).receipt.statement == first.receipt.statement
        assert time.monotonic() - begun < 3 * A_SMALL_PART_OF_A_DEADLINE_S
        # And so does the way to a commit but for what is read: a proof of a read cannot be remembered
        refusal = await wire.refused("GetCommitReceipt", GetCommitReceiptRequest(commit_idempotency_key=ready.key))
        assert (refusal.code, refusal.reason) == (grpc.StatusCode.UNAVAILABLE, "DEPENDENCY_UNAVAILABLE")
        assert refusal.retry is not None
        assert not (await impatient.commit(await impatient.ready())).replayed
        # And once Redis is well reads are served again, without a restart
        _mend(site)
        await _reads_again(patient.service)


@pytest.mark.parametrize("mood", ["b05_stopped", "b05_hung", "b04_flushed"])
async def test_i04_a_captured_proof_opens_no_second_stream_whatever_becomes_of_redis(
    patient: Team, wire: Wire, site: Site, mended: None, mood: str
) -> None:
    # Given a proof that opened a stream
    ready, proof = await patient.ready(), wire.proof("StreamCommitValidated", b"")
    assert await wire.stream(proofs=[proof]).close() == []
    # When Redis is of no use, or has forgotten everything
    (MOODS | {"b04_flushed": _flushed})[mood](site)
    # Then the proof still opens no other, and a new one opens one, on which commits go on
    failure = await wire.stream_refused(proofs=[proof])
    assert (failure.code, failure.reason) == (grpc.StatusCode.PERMISSION_DENIED, "PROOF_REPLAYED")
    stream = wire.stream()
    await stream.send(StreamCommitValidatedRequest(tag=1, commit=commit_of(ready)))
    (committed,) = await stream.close()
    assert not committed.outcome.result.replayed
    assert (await patient.commit(ready)).receipt.statement == committed.outcome.result.receipt


async def test_b04_a_flush_between_commit_and_replay_is_not_noticed(site: Site, patient: Team, mended: None) -> None:
    # Given a commit, whose receipt is cached
    ready = await patient.ready()
    first = await patient.commit(ready)
    # When Redis forgets everything
    _flushed(site)
    # Then the retry is answered from PostgreSQL, byte for byte
    again = await patient.commit(ready)
    assert (again.replayed, again.receipt.statement) == (True, first.receipt.statement)


async def test_a17_b04_a_false_entry_in_the_cache_is_not_believed(site: Site, patient: Team, mended: None) -> None:
    # Given two commits
    one, other = await patient.ready(), await patient.ready()
    first, second = await patient.commit(one), await patient.commit(other)
    # When somebody gives each cached receipt the other's name, or makes it nonsense
    with _operator(site) as redis:
        names = list(redis.scan_iter("*:replay:*"))
        values: list[Any] = [redis.get(name) for name in names]
        for name, value in zip(names, [*values[1:], values[0]], strict=True):
            redis.set(name, value)
        assert len(set(values)) >= 2
    # Then each retry still gets its own receipt
    for ready, committed in ((one, first), (other, second)):
        again = await patient.commit(ready)
        assert (again.replayed, again.receipt.statement) == (True, committed.receipt.statement)
    with _operator(site) as redis:
        for name in names:
            redis.set(name, b"R1nonsense")
    assert (await patient.commit(one)).receipt.statement == first.receipt.statement


@pytest.mark.parametrize("mood", ["b05_stopped", "b05_hung"])
async def test_b05_redis_that_goes_away_during_a_commit_does_not_hinder_it(
    site: Site, patient: Team, mended: None, mood: str
) -> None:
    # Given a commit whose lease is taken, and that stands still inside the database
    ready = await patient.ready()
    with gate(site.installation.admin_url, "memory_record") as closed:
        running = asyncio.create_task(patient.commit(ready))
        await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
        assert has_lease(site.valkey.url, ready)
        # When Redis goes away before the lease is given back
        MOODS[mood](site)
        closed.open()
        # Then the commit is answered
        first = await running
    assert not first.replayed
    # And the key can be asked for again at once, though its lease may still be there
    _mend(site)
    again = await patient.commit(ready)
    assert (again.replayed, again.receipt.statement) == (True, first.receipt.statement)


async def test_b05_the_service_starts_without_redis(site: Site, patient: Team, mended: None) -> None:
    # Given no Redis
    ready = await patient.ready()
    _stopped(site)
    # When a service starts
    process = await site.processes.serving()
    async with team_at(process.address, patient.tenant, retries=ONCE) as impatient:
        # Then it commits, and does not read
        assert not (await impatient.commit(ready)).replayed
        await refused(impatient.service.get_receipt(commit_idempotency_key=ready.key), Unavailable)
        # And reads once Redis is there
        _mend(site)
        async with team_at(process.address, patient.tenant) as patient_there:
            await _reads_again(patient_there.service)
    assert "Redis could not be asked" in process.said


async def test_b10_an_evicted_lease_lets_a_second_caller_in_but_no_second_row(
    site: Site, patient: Team, broken_storage: Storage, mended: None
) -> None:
    # Given a Redis that evicts, of which a service that starts warns
    with _operator(site) as redis:
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


def _write_until_evicted(site: Site, redis: "Redis", ready: Ready) -> None:
    for number in range(20_000):
        try:
            redis.set(f"neighbour-{number}", b"x" * 2_000)
        except RedisError:
            continue
        if number % 50 == 0 and not has_lease(site.valkey.url, ready):
            return
    raise AssertionError("the lease was not evicted")
