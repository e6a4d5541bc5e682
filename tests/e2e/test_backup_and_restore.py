"""What the documentation shows of "Backup and restore", on real servers, under a Redis that remembers."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from authority.bootstrap.doctor.database import look_at_server
from authority.bootstrap.doctor.finding import State
from authority.bootstrap.system import SystemClock
from authority.domain.plan import Claim
from authority.domain.references import PrincipalRef
from authority.domain.statement import KeyPurpose
from authority.embedded import PostgresServer, start_postgres
from authority.embedded.account import account_for
from authority.embedded.binaries import postgres_programs
from authority.postgres.examination import examine
from authority.postgres.migrate import migrate
from authority.postgres.provision import ensure_database
from authority.postgres.sql import query
from authority.redis.entries import pack_lease
from authority.redis.names import KeyNames
from authority.usecases.ports import DatabaseGeneration
from capability_authority.client import Committed, IdempotencyConflict, NotFound
from capability_authority.offline import KeyRevoked
from tests.faults.redis_moods.scene import operator
from tests.installation.documented import sections
from tests.installation.installation import Installation, Tenant, make_login
from tests.installation.leases import has_receipt
from tests.installation.processes import eventually
from tests.installation.storage import storage_at
from tests.installation.team import Ready, refused, team_at

PASSWORD = "of-the-restored"


@dataclass(frozen=True)
class Home:
    """An authority that was backed up, and what it did since."""

    folder: Path
    server: PostgresServer
    installation: Installation
    tenant: Tenant
    kept: tuple[Ready, Committed]
    """Committed before the backup."""
    forgotten: tuple[Ready, Committed]
    """Committed since."""
    pending: Ready
    """Not committed, and seen as running by Redis since."""


def shown(first: str) -> str:
    """The block of commands that begins with this comment."""
    (text,) = (text for heading, text in sections("docs/operating.md") if heading == "Backup and restore")
    (block,) = re.findall(rf"^```sh\n(# {first}.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return str(block)


def run(block: str, cwd: Path, **settings: str) -> str:
    """What a shell says that runs the block, with the programs of the wheel; each command must succeed."""
    places = [str(Path(sys.executable).parent), str(postgres_programs(account_for(cwd))), os.environ["PATH"]]
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        cwd=cwd,
        env={"PATH": os.pathsep.join(places), "HOME": str(cwd), "LANG": "C.UTF-8", **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def own_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    with start_postgres(tmp_path_factory.mktemp("backed-up") / "server", settings={"fsync": "off"}) as server:
        yield server


@pytest.fixture(scope="module")
async def home(
    own_postgres: PostgresServer, redis_url: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Home]:
    folder = tmp_path_factory.mktemp("home")
    url = ensure_database(own_postgres.url, "authority")
    migrate(url)
    installation = Installation(url, redis_url, folder)
    await installation.furnish()
    tenant = await installation.tenant()
    with installation.processes() as processes:
        service = await processes.serving()
        async with team_at(service.address, tenant) as team:
            first, second, pending = await team.ready(), await team.ready(), await team.ready()
            kept = first, await team.commit(first)
            named = {"AUTHORITY_ADMIN_DATABASE_URL": url, "AUTHORITY_KEYS": str(installation.keys)}
            run(shown("back up"), folder, **named)
            run(shown("a physical copy"), folder, **named)
            forgotten = second, await team.commit(second)
            await eventually(lambda: has_receipt(redis_url, forgotten[1]), "the receipt is cached")
            # And a process died in the middle of a commit, so that its key is taken for as long as the lease lives
            lease = _lease_of(url, pending, tenant)
            with operator(redis_url) as redis:
                redis.set(lease, pack_lease("somebody", b"f" * 32))
            await refused(team.commit(pending), IdempotencyConflict)
    yield Home(folder, own_postgres, installation, tenant, kept, forgotten, pending)
    with operator(redis_url) as redis:
        redis.delete(lease)


def _lease_of(url: str, pending: Ready, tenant: Tenant) -> str:
    """What the lease is called under which Redis sees the commit as running, for the database of the URL."""
    with psycopg.connect(url) as connection:
        generation = connection.execute(query("database_generation").encode()).fetchone()
    assert generation
    holder = PrincipalRef(*tenant["service"].principal)
    return KeyNames(DatabaseGeneration(*generation)).claim(Claim(tenant.ref, holder, pending.key, b"")).lease


async def told_of(home: Home, restored: Installation, *, disowned: bool) -> None:
    """What a service over the restored database tells: what it has, and nothing of what it forgot.

    Forgotten receipts verify all the same, unless they were disowned, as the documentation says, before it serves.
    """
    ready, forgotten = home.forgotten
    assert has_receipt(restored.redis_url, forgotten)
    if disowned:
        async with restored.operator() as operator:
            _, [before] = await operator.rotate(KeyPurpose.RECEIPT)
            await operator.administration.revoke_issuer_key(before, None, operator.clock.now())
    with restored.processes() as processes:
        service = await processes.serving()
        async with team_at(service.address, home.tenant) as team:
            # What was committed before the backup is replayed, byte for byte
            replay = await team.commit(home.kept[0])
            assert (replay.replayed, replay.receipt.statement) == (True, home.kept[1].receipt.statement)
            # As is what a receipt of before says, though its key may be revoked
            receipt = await team.service.get_receipt(receipt_id=replay.receipt_id)
            assert (receipt.attestation is not None) is disowned
            # A forgotten one proves what it says, unless it was disowned
            verifying = team.service.verify_receipt(forgotten.receipt.statement, content=ready.content)
            if disowned:
                with pytest.raises(KeyRevoked):
                    await verifying
            else:
                assert (await verifying).receipt_id == forgotten.receipt_id
            # What was committed since was never heard of, and commits
            await refused(team.service.get_receipt(receipt_id=forgotten.receipt_id), NotFound)
            again = await team.commit(ready)
            assert not again.replayed
            assert again.receipt_id != forgotten.receipt_id
            # What seemed to run does not stick
            assert not (await team.commit(home.pending)).replayed
    with storage_at(restored.admin_url) as storage:
        assert storage.assert_whole().receipts == 3


async def test_a17_a_dump_is_restored_into_another_cluster(home: Home, tmp_path: Path) -> None:
    # Given another cluster with an empty database, and the Redis of the old one
    with start_postgres(tmp_path / "server") as server:
        url = ensure_database(server.url, "authority")
        service = f"postgresql://authority_service:{PASSWORD}@{url.rpartition('@')[2]}"
        # When it is restored as the documentation says, then the doctor finds no problem, or the block would fail
        said = run(
            shown("restore"),
            home.folder,
            AUTHORITY_ADMIN_DATABASE_URL=url,
            AUTHORITY_DATABASE_URL=service,
            AUTHORITY_REDIS_URL=home.installation.redis_url,
            AUTHORITY_KEYS=str(tmp_path / "keys"),
            AUTHORITY_LISTEN="127.0.0.1:1",
        )
        assert "authority_service may log in" in said
        assert "doctor: no problems" in said
        restored = Installation(url, home.installation.redis_url, tmp_path)
        make_login(url)
        await told_of(home, restored, disowned=True)


async def test_a17_a_physical_copy_is_started_in_place_of_the_original(home: Home, tmp_path: Path) -> None:
    # Given the copy in a folder of a server, with the passwords of the original
    (tmp_path / "server").mkdir()
    shutil.copytree(home.folder / "base", tmp_path / "server" / "postgres", symlinks=True)
    shutil.copy2(home.server.data / "postgres.password", tmp_path / "server")
    _give_to(home.server.folder, tmp_path / "server" / "postgres")
    shutil.copytree(home.installation.keys, tmp_path / "keys")
    standby = tmp_path / "server" / "postgres" / "standby.signal"
    standby.touch()
    _give_to(home.server.folder, standby)

    # When it is started as a standby, then the doctor tells that it takes no writes
    with start_postgres(tmp_path / "server", settings={"fsync": "off"}) as server:
        facts = await examine(server.url, SystemClock().now, within_s=20)
        (found,) = look_at_server(facts, 1)
        assert (found.state, found.remedy) == (State.PROBLEM, "name the primary in the URL")

    # When it is started as the primary, then it never meets what Redis kept of the original, whose identity it has
    standby.unlink()
    with start_postgres(tmp_path / "server", settings={"fsync": "off"}) as server:
        url = ensure_database(server.url, "authority")
        await told_of(home, Installation(url, home.installation.redis_url, tmp_path), disowned=False)


def _give_to(owner: Path, place: Path) -> None:
    """The files belong to whoever the server runs as."""
    status = owner.stat()
    for path in (place, *place.rglob("*")):
        os.chown(path, status.st_uid, status.st_gid, follow_symlinks=False)
