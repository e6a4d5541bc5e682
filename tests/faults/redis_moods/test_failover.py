"""A failover of Redis to a real replica, in the middle of commits (case B07)."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from authority.embedded import ValkeyServer, start_valkey
from capability_authority.v1.capability_service_pb2 import GetCommitReceiptRequest
from tests.faults.conftest import Site
from tests.faults.redis_moods.scene import operator, reads_again, tells_of_redis
from tests.installation.gates import gate
from tests.installation.installation import Tenant
from tests.installation.leases import has_lease, has_receipt
from tests.installation.processes import WITHIN_S, ServiceProcess, eventually
from tests.installation.team import team_at
from tests.installation.wire import wire_to
from tests.redis_room import Forwarder


def _password(server: ValkeyServer) -> str:
    password = urlsplit(server.url).password
    assert password
    return password


@pytest.fixture
def master(tmp_path: Path) -> Iterator[ValkeyServer]:
    with start_valkey(tmp_path / "master", settings={"repl-diskless-sync-delay": "0"}) as server:
        yield server


@pytest.fixture
def replica(tmp_path: Path, master: ValkeyServer) -> Iterator[ValkeyServer]:
    """Has all that the master has, and the master's password besides its own."""
    settings = {"replicaof": f"127.0.0.1 {master.port}", "masterauth": _password(master)}
    with start_valkey(tmp_path / "replica", settings=settings) as server:
        with operator(server.url) as redis:
            redis.acl_setuser("default", enabled=True, passwords=[f"+{_password(master)}"])
        _await_link(server)
        yield server


def _await_link(server: ValkeyServer) -> None:
    deadline = time.monotonic() + WITHIN_S
    with operator(server.url) as redis:
        while redis.info("replication")["master_link_status"] != "up":
            assert time.monotonic() < deadline, "the replica has not found its master"
            time.sleep(0.02)


@pytest.fixture
async def address(master: ValkeyServer) -> AsyncIterator[Forwarder]:
    """Leads to whoever is the master."""
    async with Forwarder(master.url) as address:
        yield address


@pytest.fixture
async def process(site: Site, address: Forwarder) -> AsyncIterator[ServiceProcess]:
    with site.installation.processes(redis_url=address.url) as processes:
        yield await processes.serving()


def _fail_over(master: ValkeyServer, replica: ValkeyServer, address: Forwarder) -> None:
    """The replica has caught up and becomes the master; the master becomes its replica, its connections left open."""
    with operator(master.url) as old, operator(replica.url) as new:
        assert old.wait(1, int(WITHIN_S * 1000)) == 1
        new.replicaof("NO", "ONE")
        old.config_set("masterauth", _password(replica))
        old.replicaof("127.0.0.1", str(replica.port))
    address.server_url = replica.url.replace(_password(replica), _password(master))


async def test_b07_a_failover_during_a_commit_loses_no_answer_and_no_memory_of_proofs(
    site: Site,
    master: ValkeyServer,
    replica: ValkeyServer,
    address: Forwarder,
    process: ServiceProcess,
    broken_tenant: Tenant,
) -> None:
    async with (
        team_at(process.address, broken_tenant) as team,
        wire_to(process.address, team.tenant["service"]) as wire,
    ):
        # Given a settled commit, a read whose proof was used, and a commit that stands still inside the database
        settled, ready = await team.ready(), await team.ready()
        first = await team.commit(settled)
        request = GetCommitReceiptRequest(commit_idempotency_key=settled.key)
        proof = wire.proof("GetCommitReceipt", request.SerializeToString())
        await wire.send("GetCommitReceipt", request, proofs=[proof])
        with gate(site.installation.admin_url, "memory_record") as closed:
            running = asyncio.create_task(team.commit(ready))
            await eventually(lambda: len(closed.waiting()) == 1, "the call is inside the database")
            await eventually(lambda: has_lease(master.url, ready), "the lease is taken")
            await eventually(lambda: has_receipt(master.url, first), "the receipt is cached")
            # When Redis fails over
            _fail_over(master, replica, address)
            assert has_lease(replica.url, ready)
            # Then reads wait, for the old master only lets itself be read, and the commit is answered
            await tells_of_redis(process, serving=False)
            assert "ReadOnlyError" in process.said
            closed.open()
            second = await running
        assert not second.replayed
        # And once the new master is found all is as it was, without a restart
        await tells_of_redis(process, serving=True)
        await reads_again(team.service)
        for one, committed in ((settled, first), (ready, second)):
            again = await team.commit(one)
            assert (again.replayed, again.receipt.statement) == (True, committed.receipt.statement)
        # And it knows what the old one knew: the receipt, and that the proof was used
        assert has_receipt(replica.url, first)
        assert (await wire.refused("GetCommitReceipt", request, proofs=[proof])).reason == "PROOF_REPLAYED"
        third = await team.commit(await team.ready())
        await eventually(lambda: has_receipt(replica.url, third), "the new master caches receipts")


async def test_b07_a_master_that_dies_is_replaced_by_its_replica(
    master: ValkeyServer, replica: ValkeyServer, address: Forwarder, process: ServiceProcess, broken_tenant: Tenant
) -> None:
    async with team_at(process.address, broken_tenant) as team:
        # Given a settled commit
        settled = await team.ready()
        first = await team.commit(settled)
        # When the master dies, and its replica is promoted a while later
        master.kill()
        await tells_of_redis(process, serving=False)
        second = await team.commit(ready := await team.ready())
        with operator(replica.url) as redis:
            redis.replicaof("NO", "ONE")
        address.server_url = replica.url.replace(_password(replica), _password(master))
        # Then it is found, without a restart
        await tells_of_redis(process, serving=True)
        await reads_again(team.service)
        for one, committed in ((settled, first), (ready, second)):
            assert (await team.commit(one)).receipt.statement == committed.receipt.statement
