"""SIGTERM: running commits end, health says so first, the process exits 0, and no commit is lost or doubled (F12)."""

import asyncio

import pytest

from capability_authority.client import Committed, TransportError
from tests.crash.conftest import Site
from tests.installation.gates import gate
from tests.installation.health import NOT_SERVING, SERVING, watch_health
from tests.installation.processes import ServiceProcess, eventually
from tests.installation.proxy import COMMIT, ISSUE
from tests.installation.team import ONCE, Team, all_of, refused, team_at

COMMITS = 100


async def test_f12_a_running_commit_ends_before_the_process_does(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given a commit that stands still inside the database, and a watcher of the health
    ready, before, told = await doomed_team.ready(), site.storage.assert_whole().receipts, list[int]()
    watching = asyncio.create_task(watch_health(doomed.address, told.append))
    async with team_at(doomed.address, doomed_team.tenant, retries=ONCE) as impatient:
        with gate(site.installation.admin_url, "commit_receipt") as closed:
            running = asyncio.create_task(impatient.commit(ready))
            await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
            await eventually(lambda: told == [SERVING], "health says SERVING")
            # When the process is asked to end
            doomed.terminate()
            # Then its health says that it no longer serves, while the call goes on
            await eventually(lambda: told == [SERVING, NOT_SERVING], "health says NOT_SERVING")
            assert doomed.exit_code is None
            assert not running.done()
            # And a new call is not taken
            await refused(_one_call_elsewhere(doomed, doomed_team), TransportError)
            closed.open()
        # And the running one ends well, and then the process
        assert not (await running).replayed
    assert await doomed.ends() == 0
    await watching
    assert site.storage.assert_whole().receipts == before + 1


async def _one_call_elsewhere(process: ServiceProcess, team: Team) -> None:
    async with team_at(process.address, team.tenant, retries=ONCE, within_s=3) as other:
        await other.user.get_proposal("00000000-0000-7000-8000-000000000000")


async def test_f12_a_restart_under_load_loses_and_doubles_nothing(
    site: Site, doomed: ServiceProcess, doomed_team: Team
) -> None:
    # Given many capabilities, and their commits under way
    ready = await all_of(doomed_team.ready() for _ in range(COMMITS))
    before = site.storage.assert_whole().receipts
    committing = asyncio.create_task(all_of((doomed_team.commit(one) for one in ready), at_once=16))
    await eventually(lambda: site.storage.counts().receipts > before + COMMITS // 5, "the load is under way")
    # When the service is restarted
    doomed.terminate()
    assert await doomed.ends() == 0
    assert not committing.done()
    await site.processes.again(doomed)
    # Then every caller has a receipt of its own, and there is one record for each
    committed: list[Committed] = await committing
    assert len({one.receipt_id for one in committed}) == COMMITS
    assert site.storage.assert_whole().receipts == before + COMMITS


@pytest.mark.parametrize("name", [COMMIT, ISSUE])
async def test_f12_a_database_that_hangs_keeps_no_process_from_ending(
    site: Site, doomed: ServiceProcess, doomed_team: Team, name: str
) -> None:
    # Given a call whose reply of the database does not come back
    ready, ground = await doomed_team.ready(), await doomed_team.ground()
    before = site.storage.assert_whole().receipts
    async with team_at(doomed.address, doomed_team.tenant, retries=ONCE) as impatient:
        site.proxy.hold_replies(name)
        call = impatient.commit(ready) if name == COMMIT else impatient.issue(ground, "key")
        calling = asyncio.create_task(refused(call, TransportError))
        await eventually(lambda: site.proxy.held_replies > 0, "the reply is held up")
        # When the process is asked to end
        doomed.terminate()
        # Then it does
        assert await doomed.ends() == 0
        await calling
    # And at its successor the commit is found, and a capability is had
    site.proxy.cut()
    await site.proxy.let_pass()
    await site.processes.again(doomed)
    assert (await doomed_team.commit(ready)).replayed is (name == COMMIT)
    assert not (await doomed_team.commit(await doomed_team.issue(ground, "key"))).replayed
    assert site.storage.assert_whole().receipts == before + 2
