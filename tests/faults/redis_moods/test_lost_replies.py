"""A reply of Redis that is lost: the lease may be ours, the proof may be used, and both are taken for so (case B02)."""

from collections.abc import AsyncIterator

import pytest

from capability_authority.client import BindingMismatch, IdempotencyConflict
from capability_authority.v1.capability_service_pb2 import GetCommitReceiptRequest
from tests.faults.conftest import Site
from tests.faults.redis_moods.scene import reads_again, tells_of_redis
from tests.installation.installation import Tenant
from tests.installation.leases import has_lease
from tests.installation.processes import ServiceProcess, eventually
from tests.installation.team import ONCE, refused, team_at
from tests.installation.wire import wire_to
from tests.redis_room import LEASE_TAKEN, NONCE_USED, Forwarder


@pytest.fixture
async def network(site: Site) -> AsyncIterator[Forwarder]:
    async with Forwarder(site.valkey.url) as network:
        yield network


@pytest.fixture
async def process(site: Site, network: Forwarder) -> AsyncIterator[ServiceProcess]:
    """A process whose way to Redis is that network."""
    with site.installation.processes(redis_url=network.url) as processes:
        yield await processes.serving()


async def test_b02_a_lease_whose_reply_was_lost_is_in_nobodys_way(
    site: Site, network: Forwarder, process: ServiceProcess, broken_tenant: Tenant
) -> None:
    async with team_at(process.address, broken_tenant, retries=ONCE) as team:
        # Given a network that loses the reply to the taking of a lease
        ready = await team.ready()
        network.loses_reply_to = LEASE_TAKEN
        # When the commit is made, then it goes on
        first = await team.commit(ready)
        assert not first.replayed
        # And the lease is there, of which Redis could not be told that it is over
        await eventually(lambda: network.lost_replies == 1, "the reply is lost")
        assert has_lease(site.valkey.url, ready)
        assert "redis_away" in process.said
        # And retries are answered, while another request under the key is a conflict, before and after Redis is back
        for _ in range(2):
            assert (await team.commit(ready)).receipt.statement == first.receipt.statement
            await refused(team.commit(ready, content=b"Another text."), IdempotencyConflict)
            await tells_of_redis(process, serving=True)


async def test_b02_a_lease_of_nobody_holds_up_no_retry(
    site: Site, network: Forwarder, process: ServiceProcess, broken_tenant: Tenant
) -> None:
    async with team_at(process.address, broken_tenant) as team:
        # Given a commit whose lease was taken unheard, and that was refused for what it presented
        ready = await team.ready()
        await refused(team.commit(ready, evidence_digests=["sha256:" + "0" * 64]), BindingMismatch)
        network.loses_reply_to = LEASE_TAKEN
        first = await team.commit(ready)
        # When its holder asks again and again, then it is answered each time
        for _ in range(3):
            assert (await team.commit(ready)).receipt.statement == first.receipt.statement


async def test_i03_a_proof_whose_first_use_went_unheard_is_used(
    site: Site, network: Forwarder, process: ServiceProcess, broken_tenant: Tenant
) -> None:
    async with wire_to(process.address, broken_tenant["service"]) as wire:
        # Given a network that loses the reply to the remembering of a read's proof
        request = GetCommitReceiptRequest(commit_idempotency_key="none")
        proof = wire.proof("GetCommitReceipt", request.SerializeToString())
        network.loses_reply_to = NONCE_USED
        # When a read comes, then it is not let through, for it may be the second
        unheard = await wire.refused("GetCommitReceipt", request, proofs=[proof])
        assert unheard.reason == "DEPENDENCY_UNAVAILABLE"
    # And once Redis is back the same proof is a used one, and a new one works
    async with team_at(process.address, broken_tenant) as team:
        await reads_again(team.service)
    async with wire_to(process.address, broken_tenant["service"]) as wire:
        assert (await wire.refused("GetCommitReceipt", request, proofs=[proof])).reason == "PROOF_REPLAYED"
