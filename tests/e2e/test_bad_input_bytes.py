"""Bad input over the wire: bytes that are no request, or more than one."""

import grpc
import pytest
from grpc import aio

from capability_authority.v1.capability_service_pb2 import CommitValidatedRequest
from capability_authority.v1.memory_service_pb2 import GetMemoryRecordRequest
from capability_authority.v1.proposal_service_pb2 import CreateProposalRequest
from tests.installation.requests import commit_of, proposal_of
from tests.installation.storage import Storage
from tests.installation.team import Team
from tests.installation.wire import MALFORMED, Wire, assert_bad_shape

MIB = 1024 * 1024


def _good() -> bytes:
    return proposal_of().SerializeToString()


async def test_d13_unknown_fields_are_refused_at_every_depth(team: Team, holder: Wire, storage: Storage) -> None:
    # Given a good commit, and a field that nobody knows: number 100, "x"
    ready, unknown = await team.ready(), b"\xa2\x06\x01x"
    before, good = storage.dump(), commit_of(ready)
    inside = CommitValidatedRequest()
    inside.CopyFrom(good)
    inside.presentation.MergeFromString(unknown)
    # When it is sent with the request, or inside its presentation
    outer = await holder.refused("CommitValidated", good.SerializeToString() + unknown)
    inner = await holder.refused("CommitValidated", inside)
    # Then it is refused by its number: what is not understood is not acted on
    assert_bad_shape(outer, MALFORMED, "100")
    assert_bad_shape(inner, MALFORMED, "presentation.100")
    assert storage.dump() == before
    # And the same request in another spelling of the same meaning is the same request
    key = good.presentation.commit_idempotency_key.encode()
    twice = CommitValidatedRequest(capability=good.capability).SerializeToString() + good.SerializeToString()
    assert key in twice
    await holder.send("CommitValidated", twice)
    assert (await team.commit(ready)).replayed
    storage.assert_whole()


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x0a\x01\xff" + _good(), id="f07_bad_utf8"),
        pytest.param(_good()[:-3], id="truncated"),
        pytest.param(b"\xff" * 64, id="no_message"),
        pytest.param(b"\x0a\xff\xff\xff\xff\x0f", id="length_beyond_the_end"),
        pytest.param(b"\x0b" * 200, id="groups_in_groups"),
    ],
)
async def test_f07_bytes_that_are_no_request_are_malformed(proposer: Wire, storage: Storage, data: bytes) -> None:
    before = storage.dump()
    failure = await proposer.refused("CreateProposal", data)
    assert (failure.code, failure.reason) == (grpc.StatusCode.INVALID_ARGUMENT, MALFORMED)
    assert storage.dump() == before
    # And the service lives on
    await proposer.send("CreateProposal", proposal_of())


async def test_f05_a_message_beyond_the_transports_limit_never_arrives(proposer: Wire, storage: Storage) -> None:
    before = storage.dump()
    with pytest.raises(aio.AioRpcError) as caught:
        await proposer.send("CreateProposal", proposal_of(content=b"x" * (4 * MIB)))
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert storage.dump() == before
    await proposer.send("CreateProposal", proposal_of())


async def test_a_request_of_another_rpc_is_refused(proposer: Wire, storage: Storage) -> None:
    # A read's request is no proposal, whoever signs for it
    before = storage.dump()
    record_id = "01a22a31-0732-78d0-b92a-49b346588210"
    failure = await proposer.refused("CreateProposal", GetMemoryRecordRequest(record_id=record_id))
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    failure = await proposer.refused("GetMemoryRecord", CreateProposalRequest(request_id="k1"))
    assert_bad_shape(failure, MALFORMED, "record_id")
    assert storage.dump() == before
