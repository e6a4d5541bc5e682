"""Nothing that one tenant says is in any byte that another one is answered with, whatever it asks (ADR-328 test 5)."""

import contextlib
from collections.abc import AsyncGenerator, Iterable
from uuid import uuid4

import pytest
from grpc import aio

from capability_authority.client.rpcs import RPCS
from capability_authority.v1.capability_service_pb2 import StreamCommitValidatedRequest
from tests.installation.canaries import Planted, aimed_at, plant
from tests.installation.installation import MEMBERS, Installation, Tenant
from tests.installation.processes import ServiceProcess
from tests.installation.team import team_at
from tests.installation.wire import Wire, wire_to

TELLS = {
    "ExportRecord", "GetCommitReceipt", "GetGrant", "GetMemoryRecord", "GetProposal", "ListAuditEvents",
    "ListCitations", "ListCommitReceipts", "ListMemoryRecords", "ListProposals", "ReadEvidence", "RecallRecords",
}  # fmt: skip
"""The RPCs in whose answers a tenant finds its own canary, so that whoever looked there would find another's too."""
SAYS_AGAIN = {"CreateProposal", "CorrectRecord", "PutEvidence", "RegisterCitation", "WriteUnvalidatedRecord"}
"""They answer with what the caller has just said, which may be a word that it knows from elsewhere."""
WITHIN_S = 20.0


async def answers(wire: Wire, name: str, planted: Planted) -> AsyncGenerator[bytes]:
    """Every byte that the RPC answers to what is aimed at the planted: of messages, of details, of trailers."""
    for request in aimed_at(planted, name):
        try:
            if isinstance(request, StreamCommitValidatedRequest):
                stream = wire.stream()
                await stream.send(request)
                yield b"".join(one.SerializeToString() for one in await stream.close())
            elif RPCS[name].is_stream:
                watching = wire.watch(name, request)
                message = await watching.message()  # The first comes at once, with what there is.
                yield message.SerializeToString() if message is not None else b""
                watching.call.cancel()
            else:
                yield await wire.send(name, request, within_s=WITHIN_S)
        except aio.AioRpcError as error:
            yield repr(error).encode()
            for part in (error.trailing_metadata(), error.initial_metadata()):
                yield b" ".join(value if isinstance(value, bytes) else value.encode() for _, value in part)


async def told(wire: Wire, planted: Planted, rpcs: Iterable[str] = RPCS) -> set[str]:
    """The RPCs in any answer of which the canary is."""
    found = set()
    for name in rpcs:
        async with contextlib.aclosing(answers(wire, name, planted)) as parts:
            answered = [part async for part in parts]
        assert answered, f"nothing was asked of {name}"
        if any(planted.canary.encode() in part for part in answered):
            found.add(name)
    return found


@pytest.fixture
async def planted(installation: Installation, services: tuple[ServiceProcess, ...], tenant: Tenant) -> Planted:
    """A tenant's canary, in everything that it can say."""
    async with team_at(services[0].address, tenant) as team:
        return await plant(team, f"canary-{uuid4().hex}")


async def test_adr328_05_no_answer_of_any_rpc_has_a_byte_of_another_tenants(
    installation: Installation, services: tuple[ServiceProcess, ...], tenant: Tenant, planted: Planted
) -> None:
    # given a tenant that finds its own canary wherever it is told anything, so that it is planted there
    own = set()
    for name in MEMBERS:
        async with wire_to(services[0].address, tenant[name]) as wire:
            own |= await told(wire, planted, TELLS)
    assert own == TELLS
    # when each of another tenant's people asks every RPC there is for all of it, then none is answered with any of it,
    # but for what it says itself
    strangers = await installation.tenant()
    for name in MEMBERS:
        async with wire_to(services[0].address, strangers[name]) as wire:
            assert await told(wire, planted) - SAYS_AGAIN == set(), name
