"""What holds between processes holds between the workers behind one port: many connections, and both serve some."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from itertools import cycle, islice
from pathlib import Path

import grpc
import pytest

from authority.embedded import PostgresServer
from capability_authority.client import (
    CallerUnauthenticated,
    CapabilityAuthority,
    Committed,
    IdempotencyConflict,
    KeyRevoked,
)
from capability_authority.v1.memory_service_pb2 import GetMemoryRecordRequest
from tests.installation.crowd import CROWD, holders_at
from tests.installation.fixtures import new_installation
from tests.installation.installation import Installation, Tenant
from tests.installation.processes import ServiceProcess
from tests.installation.storage import Storage
from tests.installation.team import PATIENT, Ready, Team, barrier, refused, team_at
from tests.installation.wire import wire_to

CALLERS = 100


@pytest.fixture(scope="module")
async def crew(installation: Installation) -> AsyncIterator[ServiceProcess]:
    """Two workers, which all tests here share."""
    with installation.processes() as processes:
        yield await processes.serving({"workers": "2"})


@pytest.fixture
async def crew_team(crew: ServiceProcess, tenant: Tenant) -> AsyncIterator[Team]:
    async with team_at(crew.address, tenant) as team:
        yield team


@pytest.fixture
async def holders(crew: ServiceProcess, tenant: Tenant) -> AsyncIterator[list[CapabilityAuthority]]:
    """The tenant's service on connections to both workers."""
    async with holders_at(crew.address, tenant, retries=PATIENT) as holders:
        yield holders


async def _commit(holder: CapabilityAuthority, ready: Ready, content: bytes | None = None) -> Committed:
    return await holder.commit(ready.capability, content=ready.content if content is None else content)


async def test_a02_a_key_hammered_at_all_workers_commits_once(
    crew_team: Team, holders: Sequence[CapabilityAuthority], storage: Storage
) -> None:
    # Given one capability
    ready, before = await crew_team.ready(), storage.assert_whole().receipts
    # When a hundred callers commit it with its key, at both workers at once
    outcomes = await barrier(_commit(holder, ready) for holder in islice(cycle(holders), CALLERS))
    # Then all have the same receipt, one of them as the first
    committed = [outcome for outcome in outcomes if isinstance(outcome, Committed)]
    assert len(committed) == CALLERS, outcomes
    assert len({one.receipt.statement.SerializeToString() for one in committed}) == 1
    assert sum(not one.replayed for one in committed) == 1
    assert storage.assert_whole().receipts == before + 1


async def test_a12_a_settled_key_conflicts_at_every_worker(
    crew_team: Team, holders: Sequence[CapabilityAuthority], storage: Storage
) -> None:
    # Given a commit that one worker has settled
    ready = await crew_team.ready()
    first = await _commit(holders[0], ready)
    for holder in holders:
        # When its key comes to any with other content, then it conflicts, and with its own it replays
        refusal = await refused(_commit(holder, ready, b"Another text."), IdempotencyConflict)
        assert refusal.differs == ["content_digest"]
        again = await _commit(holder, ready)
        assert (again.replayed, again.receipt.statement) == (True, first.receipt.statement)
    storage.assert_whole()


async def test_i03_the_proof_of_a_read_works_once_at_all_workers_together(
    crew: ServiceProcess, crew_team: Team, tenant: Tenant
) -> None:
    # Given a read that was captured on its way to one worker
    committed = await crew_team.commit(await crew_team.ready())
    data = GetMemoryRecordRequest(record_id=committed.record_id).SerializeToString()
    async with AsyncExitStack() as stack:
        wires = [await stack.enter_async_context(wire_to(crew.address, tenant["service"])) for _ in range(CROWD)]
        proof = wires[0].proof("GetMemoryRecord", data)
        await wires[0].send("GetMemoryRecord", data, proofs=[proof])
        # When it is sent again on any connection, then it has been used
        for wire in wires:
            failure = await wire.refused("GetMemoryRecord", data, proofs=[proof])
            assert (failure.code, failure.reason) == (grpc.StatusCode.PERMISSION_DENIED, "PROOF_REPLAYED")


async def test_a_revoked_holder_key_opens_no_worker_any_more(
    installation: Installation,
    tenant: Tenant,
    crew_team: Team,
    holders: Sequence[CapabilityAuthority],
    storage: Storage,
) -> None:
    # Given a capability, and connections on which its holder has called
    ready, settled = await crew_team.ready(), await crew_team.ready()
    for holder in holders:
        await _commit(holder, settled)
    # When its key is revoked
    async with installation.operator() as operator:
        await operator.administration.revoke_principal_key(tenant.ref, tenant["service"].key_id, operator.clock.now())
    # Then from that moment on it opens none of them
    before = storage.dump()
    for holder in holders:
        await refused(_commit(holder, ready), CallerUnauthenticated)
    assert storage.dump() == before


@pytest.fixture
async def own_installation(
    postgres_server: PostgresServer, redis_url: str, tmp_path: Path
) -> AsyncIterator[Installation]:
    """Whose keys may be revoked."""
    with new_installation(postgres_server, redis_url, tmp_path) as made:
        await made.furnish()
        yield made


async def test_e09_a_revoked_issuer_key_counts_at_no_worker_any_more(own_installation: Installation) -> None:
    # Given a capability that every worker has found good
    tenant = await own_installation.tenant()
    with own_installation.processes() as processes:
        crew = await processes.serving({"workers": "2"})
        async with team_at(crew.address, tenant) as team, holders_at(crew.address, tenant, retries=PATIENT) as holders:
            ready = await team.ready()
            assert await _found_good(holders, ready) == CROWD
            # When the key that signed it is revoked
            async with own_installation.operator() as operator:
                key_id = ready.capability.statement.signature.key_id
                await operator.administration.revoke_issuer_key(key_id, None, operator.clock.now())
            # Then at once no worker commits with it
            for holder in holders:
                await refused(_commit(holder, ready), KeyRevoked)
            # And soon none finds it good, though all had
            still_good = CROWD
            while still_good:
                still_good = await _found_good(holders, ready)
        # And a new key signs at both what the other accepts
        async with own_installation.operator() as operator:
            await operator.ensure_keys()


async def _found_good(holders: Sequence[CapabilityAuthority], ready: Ready) -> int:
    """At how many connections the capability verifies."""
    return sum([(await holder.verify(ready.capability)).granted for holder in holders])
