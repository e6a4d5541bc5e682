"""Streams of requests at a target: what it says of them is heard, whenever it says it."""

import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from grpc import aio

from capability_authority.v1.capability_service_pb2 import StreamCommitValidatedRequest, StreamCommitValidatedResponse
from capability_authority_conformance.target.conversing import conversed
from capability_authority_conformance.target.rpcs import rpc_named
from capability_authority_conformance.target.target import Address, Target
from tests.conformance.targets import COMMITS, Authority

ROUNDS = 20
WITHIN_S = 30.0


class Refusing(grpc.GenericRpcHandler):
    """In threads of its own, so that it goes on while the loop of the tests stands still; it reads nothing."""

    def __init__(self) -> None:
        self.has_refused = threading.Event()

    def service(self, _details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[bytes, bytes]":
        def refuse(_requests: object, context: grpc.ServicerContext) -> Iterator[bytes]:
            context.add_callback(self.has_refused.set)
            yield context.abort(grpc.StatusCode.UNAUTHENTICATED, "no")

        return grpc.stream_stream_rpc_method_handler(refuse)


@pytest.fixture
def refusing() -> Iterator[tuple[Refusing, str]]:
    """One that serves, and where."""
    handler = Refusing()
    server = grpc.server(ThreadPoolExecutor(1), handlers=[handler])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield handler, f"127.0.0.1:{port}"
    server.stop(None).wait()


async def test_why_a_stream_was_refused_is_heard_before_anything_is_written(refusing: tuple[Refusing, str]) -> None:
    # Given a target that has refused the stream by the time at which it is written to
    handler, address = refusing

    def requests() -> Iterator[bytes]:
        assert handler.has_refused.wait(WITHIN_S)
        yield b"x"

    # When it is, many times, then its own status is told each time: grpcio tells another of a write that fails
    for _ in range(ROUNDS):
        handler.has_refused.clear()
        async with aio.insecure_channel(address, options=(("grpc.use_local_subchannel_pool", 1),)) as channel:
            with pytest.raises(aio.AioRpcError) as refused:
                [_ async for _ in conversed(channel.stream_stream(COMMITS)(timeout=WITHIN_S), requests())]
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED, refused.value


async def test_a_target_that_says_nothing_before_the_first_request_is_sent_it() -> None:
    async def echoing(
        requests: AsyncIterator[bytes], _context: "aio.ServicerContext[bytes, bytes]"
    ) -> AsyncIterator[bytes]:
        async for request in requests:
            tag = StreamCommitValidatedRequest.FromString(request).tag
            yield StreamCommitValidatedResponse(tag=tag).SerializeToString()

    rpc = rpc_named("StreamCommitValidated")
    assert rpc is not None
    requests = [StreamCommitValidatedRequest(tag=tag).SerializeToString() for tag in (1, 2)]
    async with Authority({}, streams={COMMITS: echoing}).serving() as address:
        target = Target(Address(address))
        outcome = await target.call(rpc, requests, ())
        await target.close()

    assert outcome.answer == {"messages": [{"tag": "1"}, {"tag": "2"}]}
