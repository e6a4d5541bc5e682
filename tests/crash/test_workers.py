"""`authority serve --workers 2` ended, replaced, killed and stuck, also under load: no commit is lost or doubled."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from itertools import cycle

import pytest

from authority.embedded import process_table
from capability_authority.client import CapabilityAuthority, CommitItem, Committed, TransportError
from tests.crash.conftest import Site
from tests.installation.crowd import CROWD, holders_at
from tests.installation.gates import gate
from tests.installation.health import NOT_SERVING, SERVING, health_at, watch_health
from tests.installation.installation import Tenant
from tests.installation.processes import Processes, ServiceProcess, eventually
from tests.installation.team import ONCE, PATIENT, Ready, Team, all_of, refused, team_at

SETTINGS = {"workers": "2", "commit_connections": "1", "drain_s": "20"}
"""One connection of each worker commits, so that a closed gate shows how many workers are inside the database."""


@pytest.fixture
async def processes(site: Site) -> AsyncIterator[Processes]:
    """Of the tests' installation, on the straight way to the database; all have ended after the test."""
    with site.installation.processes() as processes:
        yield processes


@pytest.fixture
async def crew(processes: Processes) -> ServiceProcess:
    """A parent with two workers, all serving."""
    return await processes.serving(SETTINGS)


@pytest.fixture
async def crew_team(crew: ServiceProcess, crash_tenant: Tenant) -> AsyncIterator[Team]:
    async with team_at(crew.address, crash_tenant) as team:
        yield team


async def _commit_all(holders: Sequence[CapabilityAuthority], ready: Sequence[Ready]) -> list[Committed]:
    """Commits them all, 24 at once, over all connections in turn."""
    calls = (
        holder.commit(one.capability, content=one.content) for holder, one in zip(cycle(holders), ready, strict=False)
    )
    return await all_of(calls, at_once=CROWD)


async def _commit_in_all_ways(holders: Sequence[CapabilityAuthority], ready: Sequence[Ready]) -> list[Committed]:
    """The same, but two streams carry a fifth each; and the first connection does nothing else."""
    fifth = len(ready) // 5
    ways = await asyncio.gather(
        _stream(holders[0], ready[:fifth]),
        _stream(holders[1], ready[fifth : 2 * fifth]),
        _commit_all(holders[1:], ready[2 * fifth :]),
    )
    return [one for way in ways for one in way]


async def _stream(holder: CapabilityAuthority, ready: Sequence[Ready]) -> list[Committed]:
    """Commits them all by streams, and puts what comes in order."""
    items = [CommitItem(one.capability, content=one.content) for one in ready]
    settled = {one.commit_idempotency_key: one.result() async for one in holder.commit_stream(items)}
    return [settled[one.key] for one in ready]


def _assert_nothing_lost_or_doubled(site: Site, committed: Sequence[Committed], before: int) -> None:
    """Every caller has a receipt of its own, which is the stored one, and nothing else was written."""
    assert site.storage.assert_whole().receipts == before + len(committed)
    stored: dict[str, bytes] = dict(site.storage.ask("select receipt_id::text, payload from authority.commit_receipt"))
    assert len({one.receipt_id for one in committed}) == len(committed)
    assert [stored[one.receipt_id] for one in committed] == [one.receipt.statement.payload for one in committed]


async def _have_ended(pids: Sequence[int]) -> None:
    await eventually(lambda: all(process_table.has_ended(pid) for pid in pids), "no process is left")


async def test_both_workers_serve(crew: ServiceProcess) -> None:
    # Given two workers
    workers = crew.workers
    assert len(workers) == 2
    for paused in workers:
        # When one of them stands still, and many connect
        os.kill(paused, signal.SIGSTOP)
        try:
            checks = [asyncio.create_task(health_at(crew.address, within_s=30)) for _ in range(CROWD)]
            # Then the other answers some
            await eventually(lambda checks=checks: any(check.done() for check in checks), "somebody answers")  # type: ignore[misc]
        finally:
            os.kill(paused, signal.SIGCONT)
        # And who came to the first waits until it goes on
        assert await asyncio.gather(*checks) == [SERVING] * CROWD


async def test_f12_all_workers_say_not_serving_first_and_end_their_running_commits(
    site: Site, crew: ServiceProcess, crew_team: Team
) -> None:
    # Given watchers of the health, and commits of both workers that stand still inside the database
    ready, before = await all_of(crew_team.ready() for _ in range(CROWD)), site.storage.assert_whole().receipts
    told: list[list[int]] = [[] for _ in range(CROWD)]
    watching = [asyncio.create_task(watch_health(crew.address, notes.append)) for notes in told]
    await eventually(lambda: told == [[SERVING]] * CROWD, "all are told of the health")
    workers = crew.workers
    async with holders_at(crew.address, crew_team.tenant, retries=ONCE) as holders:
        with gate(site.installation.admin_url, "commit_receipt") as closed:
            committing = asyncio.create_task(_commit_all(holders, ready))
            await eventually(lambda: len(closed.waiting()) == 2, "both workers are inside the database")
            # When the parent is asked to end
            crew.terminate()
            # Then the health of both says that they no longer serve, while the calls go on
            await eventually(lambda: told == [[SERVING, NOT_SERVING]] * CROWD, "health says NOT_SERVING")
            assert crew.exit_code is None
            assert crew.workers == workers
            closed.open()
        # And each of them ends well, asked once, and then the processes
        committed = await committing
    assert await crew.ends() == 0
    await asyncio.gather(*watching)
    await _have_ended(workers)
    assert not any(one.replayed for one in committed)
    _assert_nothing_lost_or_doubled(site, committed, before)


async def test_f12_a_restart_of_all_under_load_loses_and_doubles_nothing(
    site: Site, processes: Processes, crew: ServiceProcess, crew_team: Team
) -> None:
    # Given commits under way
    ready, before = await all_of(crew_team.ready() for _ in range(200)), site.storage.assert_whole().receipts
    async with holders_at(crew.address, crew_team.tenant, retries=PATIENT) as holders:
        committing = asyncio.create_task(_commit_all(holders, ready))
        await eventually(lambda: site.storage.counts().receipts > before + 40, "the load is under way")
        # When everything is ended at once, as a supervisor does that signals each process of a service
        workers = crew.workers
        for pid in (*workers, crew.pid):
            os.kill(pid, signal.SIGTERM)
        assert await crew.ends() == 0
        await _have_ended(workers)
        assert not committing.done()
        # Then nothing was taken for a crash
        assert "worker ended" not in crew.said
        # And once it serves again, every caller has what it asked for
        await processes.serving(SETTINGS, address=crew.address)
        _assert_nothing_lost_or_doubled(site, await committing, before)


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_f11_workers_replaced_under_load_lose_and_double_nothing(
    site: Site, crew: ServiceProcess, crew_team: Team
) -> None:
    # Given a thousand commits with a key each, under way by callers as patient as who chooses nothing
    ready, before = await all_of(crew_team.ready() for _ in range(1_000)), site.storage.assert_whole().receipts
    workers = crew.workers
    async with holders_at(crew.address, crew_team.tenant, within_s=120) as holders:
        # When all workers are replaced meanwhile
        crew.send(signal.SIGHUP)
        committed = again = await _commit_in_all_ways(holders, ready)
        # And everything is committed over and over again for as long as that takes
        while "workers replaced" not in crew.said:
            again = await _commit_in_all_ways(holders, ready)
    # Then every caller has a receipt of its own, each time the same, and there is one record for each
    assert [one.receipt for one in again] == [one.receipt for one in committed]
    _assert_nothing_lost_or_doubled(site, committed, before)
    # And the workers are others
    assert len(crew.workers) == 2
    assert not set(workers) & set(crew.workers)


async def test_a15_f10_a_worker_killed_under_load_is_started_again_and_nothing_is_lost_or_doubled(
    site: Site, crew: ServiceProcess, crew_team: Team
) -> None:
    # Given commits under way
    ready, before = await all_of(crew_team.ready() for _ in range(200)), site.storage.assert_whole().receipts
    killed, other = crew.workers
    async with holders_at(crew.address, crew_team.tenant, retries=PATIENT) as holders:
        committing = asyncio.create_task(_commit_all(holders, ready))
        await eventually(lambda: site.storage.counts().receipts > before + 40, "the load is under way")
        # When a worker is killed
        os.kill(killed, signal.SIGKILL)
        # Then every caller has what it asked for
        _assert_nothing_lost_or_doubled(site, await committing, before)
    # And the log names the worker that ended, and there is another one
    await eventually(lambda: len(crew.workers) == 2 and killed not in crew.workers, "a worker takes its place")
    assert other in crew.workers
    (line,) = (line for line in crew.said.splitlines() if "worker ended" in line)
    assert f"worker={killed} " in f"{line} "
    assert "SIGKILL" in line


async def test_kill_9_of_the_parent_leaves_no_process_and_no_commit_half_done(
    site: Site, processes: Processes, crew: ServiceProcess, crew_team: Team
) -> None:
    # Given commits under way, and one worker that stands still
    ready, before = await all_of(crew_team.ready() for _ in range(100)), site.storage.assert_whole().receipts
    workers = crew.workers
    async with holders_at(crew.address, crew_team.tenant, retries=PATIENT) as holders:
        committing = asyncio.create_task(_commit_all(holders, ready))
        await eventually(lambda: site.storage.counts().receipts > before + 20, "the load is under way")
        os.kill(workers[0], signal.SIGSTOP)
        # When the parent is killed
        await crew.kill()
        # Then its workers end, also the one that could not be asked
        await _have_ended(workers)
        assert not committing.done()
        # And its place can be taken at once, by one that finishes what they began
        await processes.serving(SETTINGS, address=crew.address)
        _assert_nothing_lost_or_doubled(site, await committing, before)


async def test_a_stuck_worker_holds_up_no_end(processes: Processes) -> None:
    # Given a worker that stands still
    crew = await processes.serving({**SETTINGS, "drain_s": "1"})
    workers = crew.workers
    os.kill(workers[0], signal.SIGSTOP)
    # When the parent is asked to end
    crew.terminate()
    # Then it does within the time for running calls and some seconds, and says whom it did not wait for
    assert await crew.ends(within_s=1 + 5 + 10) == 0
    await _have_ended(workers)
    assert "worker did not end in time" in crew.said
    assert f"worker={workers[0]} " in f"{crew.said} ".replace("\n", " ")


async def test_f10_a_worker_that_hangs_under_load_is_replaced_and_nothing_is_lost_or_doubled(
    site: Site, processes: Processes, crash_tenant: Tenant
) -> None:
    # Given commits under way, by callers who give up an attempt that nobody answers
    crew = await processes.serving({**SETTINGS, "hang_s": "5"})
    hangs, other = crew.workers
    async with team_at(crew.address, crash_tenant) as team:
        ready, before = await all_of(team.ready() for _ in range(100)), site.storage.assert_whole().receipts
    async with holders_at(crew.address, crash_tenant, retries=PATIENT, within_s=60) as holders:
        committing = asyncio.create_task(_commit_all(holders, ready))
        await eventually(lambda: site.storage.counts().receipts > before + 20, "the load is under way")
        # When a worker stands still, its connections open
        os.kill(hangs, signal.SIGSTOP)
        # Then it is killed, and every caller has what it asked for
        await eventually(lambda: process_table.has_ended(hangs), "it is killed")
        _assert_nothing_lost_or_doubled(site, await committing, before)
    # And another serves in its place, while the other one was left alone
    await eventually(lambda: len(crew.workers) == 2 and crew.said.count("worker serves") == 3, "another serves")
    assert other in crew.workers
    (line,) = (line for line in crew.said.splitlines() if "worker hangs" in line)
    assert f"worker={hangs} " in f"{line} "


async def test_a_parent_that_stood_still_takes_nobody_s_silence_for_a_hang(processes: Processes) -> None:
    # Given workers whose parent stands still for longer than they may be silent, and hears nothing of them
    crew = await processes.serving({**SETTINGS, "hang_s": "1"})
    workers = crew.workers
    await crew.pause()
    begin = asyncio.get_running_loop().time()
    while asyncio.get_running_loop().time() < begin + 2:
        assert await health_at(crew.address, within_s=30) == SERVING
    # When it goes on, for as long as it takes to replace them
    crew.resume()
    crew.send(signal.SIGHUP)
    await eventually(lambda: "workers replaced" in crew.said, "they are replaced in order")
    # Then it has killed none
    assert "worker hangs" not in crew.said
    await _have_ended(workers)


async def test_a_second_ctrl_c_waits_for_nobody(site: Site, crew: ServiceProcess, crew_team: Team) -> None:
    # Given a commit that stands still inside the database, and a parent that waits for it
    ready, before, workers = await crew_team.ready(), site.storage.assert_whole().receipts, crew.workers
    told = list[int]()
    watching = asyncio.create_task(watch_health(crew.address, told.append))
    async with team_at(crew.address, crew_team.tenant, retries=ONCE) as impatient:
        with gate(site.installation.admin_url, "commit_receipt") as closed:
            running = asyncio.create_task(impatient.commit(ready))
            await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
            os.killpg(crew.pid, signal.SIGINT)
            await eventually(lambda: told == [SERVING, NOT_SERVING], "it waits")
            # When Ctrl-C comes again
            os.killpg(crew.pid, signal.SIGINT)
            # Then it ends as an interrupted program does, and its workers with it
            assert await crew.ends() == 130
            await _have_ended(workers)
            closed.break_off()
        assert (await refused(running, TransportError)).outcome_unknown
    await watching
    assert site.storage.assert_whole().receipts == before
