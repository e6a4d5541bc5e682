"""A database that goes back in time, under a Redis that remembers what it forgot (case A17)."""

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from authority.embedded import PostgresServer, ValkeyServer, start_postgres, start_valkey
from authority.postgres.migrate import migrate
from authority.redis.entries import pack_lease
from capability_authority.client import NotFound
from tests.faults.redis_moods.scene import operator
from tests.installation.copies import copied
from tests.installation.installation import Installation
from tests.installation.leases import has_receipt
from tests.installation.processes import Processes, ServiceProcess, eventually
from tests.installation.storage import storage_at
from tests.installation.team import Team, refused, team_at


@dataclass(frozen=True)
class Past:
    """A service on servers of its own, of which the database can be set back."""

    postgres: PostgresServer
    valkey: ValkeyServer
    installation: Installation
    processes: Processes
    service: ServiceProcess

    def copy(self, to: Path) -> Path:
        """What the database holds now, as a backup of its files."""
        self.postgres.stop()
        copied(self.postgres.folder, to)
        self.postgres.start()
        return to

    def put_back(self, copy: Path) -> None:
        """The database stops, and is started again as it was when it was copied."""
        self.postgres.stop()
        shutil.rmtree(self.postgres.folder)
        copied(copy, self.postgres.folder)
        self.postgres.start()

    def recover(self, copy: Path) -> None:
        """The same by a recovery that ends on a timeline of its own."""
        signal = copy / "recovery.signal"
        signal.touch()
        owner = copy.stat()
        shutil.chown(signal, owner.st_uid, owner.st_gid)
        self.put_back(copy)

    def timeline(self) -> int:
        """The timeline that the database writes."""
        with storage_at(self.installation.admin_url) as storage:
            line: int = storage.one("select timeline_id from pg_control_checkpoint()")
        return line


@pytest.fixture
async def past(tmp_path: Path) -> AsyncIterator[Past]:
    with ExitStack() as stack:
        settings = {"fsync": "off", "restore_command": "false"}
        postgres = stack.enter_context(start_postgres(tmp_path / "servers", settings=settings))
        valkey = stack.enter_context(start_valkey(tmp_path / "servers"))
        migrate(postgres.url)
        installation = Installation(postgres.url, valkey.url, tmp_path)
        await installation.furnish()
        processes = stack.enter_context(installation.processes())
        yield Past(postgres, valkey, installation, processes, await processes.serving())


@pytest.fixture
async def team(past: Past) -> AsyncIterator[Team]:
    async with team_at(past.service.address, await past.installation.tenant()) as team:
        yield team


BACK: dict[str, tuple[Callable[[Past, Path], None], int]] = {
    "the files put back": (Past.put_back, 1),
    "recovered to a new timeline": (Past.recover, 2),
}


@pytest.mark.parametrize("way", BACK)
async def test_a17_a_receipt_that_the_database_has_forgotten_is_told_of_by_nobody(
    past: Past, team: Team, tmp_path: Path, way: str
) -> None:
    # Given a copy of the database, and commits made since, whose receipts Redis has
    lost, kept = await team.ready(), await team.ready()
    before = await team.commit(kept)
    copy = past.copy(tmp_path / "copy")
    forgotten = await team.commit(lost)
    await eventually(lambda: has_receipt(past.valkey.url, forgotten), "the receipt is cached")
    # When the database is set back under the service, which lives on, and Redis is left as it is
    set_back, timeline = BACK[way]
    set_back(past, copy)
    await eventually(lambda: past.timeline() == timeline, "the database writes the timeline")
    assert has_receipt(past.valkey.url, forgotten)
    # Then the retry is no replay of what was forgotten: it commits, and that is what every retry gets from now on
    again = await team.commit(lost)
    assert not again.replayed
    assert again.receipt_id != forgotten.receipt_id
    await refused(team.service.get_receipt(receipt_id=forgotten.receipt_id), NotFound)
    assert "database_restarted_or_replaced" in past.service.said
    # And a process that starts now says the same, and both have kept what was not forgotten
    late = await past.processes.serving()
    async with team_at(late.address, team.tenant) as team_there:
        for there in (team, team_there):
            assert (await there.commit(lost)).receipt.statement == again.receipt.statement
            replay = await there.commit(kept)
            assert (replay.replayed, replay.receipt.statement) == (True, before.receipt.statement)
    with storage_at(past.installation.admin_url) as storage:
        assert storage.assert_whole().receipts == 2


async def test_a17_leases_of_before_are_in_nobodys_way_after(past: Past, team: Team, tmp_path: Path) -> None:
    # Given a copy of the database, and in Redis every lease and receipt made since, given a long life
    ready = await team.ready()
    copy = past.copy(tmp_path / "copy")
    first = await team.commit(ready)
    await eventually(lambda: has_receipt(past.valkey.url, first), "the receipt is cached")
    with operator(past.valkey.url) as redis:
        (replay,) = redis.scan_iter("*:replay:*")
        lease = bytes(replay).replace(b":replay:", b":lease:")
        redis.set(lease, pack_lease("somebody", b"f" * 32))
    # When the database is set back
    past.put_back(copy)
    # Then the key is free, for it and for its holder
    assert (await team.commit(ready)).receipt_id != first.receipt_id
