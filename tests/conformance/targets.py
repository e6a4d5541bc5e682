"""Targets that are no good: each a real listener on a socket of 127.0.0.1."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.timestamp_pb2 import Timestamp
from google.rpc.error_details_pb2 import ErrorInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from grpc import aio
from grpc_health.v1.health_pb2 import HealthCheckResponse  # type: ignore[import-untyped]

from capability_authority.offline import PrivateKey
from capability_authority.v1.capability_service_pb2 import GetKeySetResponse
from capability_authority.v1.memory_service_pb2 import ListMemoryRecordsResponse
from capability_authority.v1.types_pb2 import KEY_PURPOSE_RECEIPT, KEY_STATE_ACTIVE
from tests.world.certificates import Pair

Answer = Callable[[bytes, "aio.ServicerContext[bytes, bytes]"], Awaitable[bytes]]
StreamAnswer = Callable[[AsyncIterator[bytes], "aio.ServicerContext[bytes, bytes]"], AsyncIterator[bytes]]
Conversation = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

KEY_SET = "/capability_authority.v1.CapabilityService/GetKeySet"
RECORDS = "/capability_authority.v1.MemoryService/ListMemoryRecords"
COMMITS = "/capability_authority.v1.CapabilityService/StreamCommitValidated"
PROPOSE = "/capability_authority.v1.ProposalService/CreateProposal"
HEALTH = "/grpc.health.v1.Health/Check"


@contextmanager
def refusing() -> Iterator[str]:
    """A port that is taken and on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"


@asynccontextmanager
async def talking(conversation: Conversation) -> AsyncIterator[str]:
    """Whoever connects is talked to like this, and hung up on afterwards."""
    met_by: set[asyncio.Task[None]] = set()

    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await conversation(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met_by.add(asyncio.create_task(met(reader, writer)))

    server = await asyncio.start_server(meet, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in met_by:
            task.cancel()
        await asyncio.gather(*met_by, return_exceptions=True)


async def says_nothing(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Until the other side gives up."""
    while await reader.read(1024):
        pass


async def hangs_up(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Once it has heard something."""
    await reader.read(1)


async def speaks_http1(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """As a web server from before HTTP/2 does."""
    await reader.read(1024)
    writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    await writer.drain()


async def speaks_tls(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The alert with which a TLS server answers plaintext."""
    await reader.read(1024)
    writer.write(b"\x15\x03\x01\x00\x02\x02\x46")
    await writer.drain()


async def serves_web_pages(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """HTTP/2, and 404 to whatever is asked."""
    await reader.readexactly(len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
    writer.write(_frame(4, 0, 0))
    while True:
        head = await reader.read(9)
        if len(head) < 9:
            return
        length, kind, stream = int.from_bytes(head[:3], "big"), head[3], int.from_bytes(head[5:], "big")
        await reader.readexactly(length)
        if kind == 1:
            # `:status 404` stands in HPACK's own table.
            writer.write(_frame(1, 5, stream, b"\x8d"))
        await writer.drain()


def _frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


@dataclass
class Authority(grpc.GenericRpcHandler):
    """A gRPC service that answers by RPC, and UNIMPLEMENTED to all else; it looks at no proof."""

    answers: Mapping[str, Answer]
    server: aio.Server = field(default_factory=aio.server)
    streams: Mapping[str, StreamAnswer] = field(default_factory=dict)
    """By RPC whose requests and answers are streams."""
    tls: Pair | None = None
    """What it shows of itself; None speaks plaintext."""

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[Any, Any] | None":
        if stream := self.streams.get(handler_call_details.method):
            return grpc.stream_stream_rpc_method_handler(stream)
        answer = self.answers.get(handler_call_details.method)
        return None if answer is None else grpc.unary_unary_rpc_method_handler(answer)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Where it serves."""
        self.server.add_generic_rpc_handlers((self,))
        if self.tls is None:
            port = self.server.add_insecure_port("127.0.0.1:0")
        else:
            shown = grpc.ssl_server_credentials([(self.tls.private_key, self.tls.certificate)])
            port = self.server.add_secure_port("127.0.0.1:0", shown)
        await self.server.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            await self.server.stop(None)


def answering(data: bytes) -> Answer:
    """The same to everybody."""

    async def answer(_request: bytes, _context: "aio.ServicerContext[bytes, bytes]") -> bytes:
        return data

    return answer


def refusing_as(reason: str, code: grpc.StatusCode) -> Answer:
    """As the contract has it, with ErrorInfo."""

    async def answer(_request: bytes, context: "aio.ServicerContext[bytes, bytes]") -> bytes:
        status = Status(code=code.value[0], message=reason)
        status.details.add().Pack(ErrorInfo(reason=reason, domain="capability-authority"))
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        await context.abort(code, reason)

    return answer


async def breaking(_request: bytes, context: "aio.ServicerContext[bytes, bytes]") -> bytes:
    """Without any reason."""
    await context.abort(grpc.StatusCode.INTERNAL, "broken")


async def unanswered() -> bytes:
    """Waits until the call is cancelled."""
    forever: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    return await forever


async def never(_request: bytes, _context: "aio.ServicerContext[bytes, bytes]") -> bytes:
    """Answered."""
    return await unanswered()


def key_set() -> bytes:
    """A key set that can be believed."""
    key = PrivateKey.generate().public_key
    described = GetKeySetResponse.Key(
        key_id=key.key_id,
        public_key=key.raw,
        purpose=KEY_PURPOSE_RECEIPT,
        state=KEY_STATE_ACTIVE,
        create_time=Timestamp(seconds=1),
    )
    return GetKeySetResponse(issuer="i", audience="a", keys=[described]).SerializeToString()


def well() -> dict[str, Answer]:
    """What an authority answers to the probes; whoever wants another answer puts it in."""
    return {
        KEY_SET: answering(key_set()),
        HEALTH: answering(HealthCheckResponse(status=HealthCheckResponse.SERVING).SerializeToString()),
        RECORDS: answering(ListMemoryRecordsResponse().SerializeToString()),
    }
