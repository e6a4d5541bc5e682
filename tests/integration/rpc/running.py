"""A real server on 127.0.0.1 whose use cases are written by hand: only transport, proofs and errors are tested here."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from typing import Any

from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from grpc import StatusCode, aio

from authority.domain.identity import Caller, Principal, PrincipalKind, Proof
from authority.domain.references import PrincipalRef, TenantRef
from authority.rpc.open_streams import Later
from authority.rpc.server import RpcServer, ServerOptions
from authority.rpc.use_cases import UseCases
from authority.usecases.commit_stream import CommitItem
from capability_authority.client.rpcs import Rpc
from capability_authority.v1.capability_service_pb2 import (
    CommitOutcome,
    StreamCommitValidatedRequest,
    StreamCommitValidatedResponse,
)

AUDIENCE = "authority.test"
INCIDENT = "0190f3a0-0000-7000-8000-00000000dead"
UUID = "0190f3a0-0000-7000-8000-000000000001"
PROOF = (("capability-authority-proof-bin", b"proof"),)

CALLER = Caller(
    Principal(TenantRef("acme", "t1"), PrincipalRef("acme", "svc"), PrincipalKind.SERVICE, frozenset()),
    "sha256:" + "a" * 64,
    Proof(b"nonce", None),
    one_use=False,
)

STREAM = "/capability_authority.v1.CapabilityService/StreamCommitValidated"
GET_RECORD = "/capability_authority.v1.MemoryService/GetMemoryRecord"
ONE_RECORD = b"\x0a\x24" + UUID.encode()


async def authenticate_anybody(*_: object, **__: object) -> Caller:
    """Takes every call for `CALLER`'s."""
    return CALLER


async def _unexpected(*_: object, **__: object) -> Any:
    raise AssertionError("no call was expected")


def use_cases(*, commit_item: CommitItem | None = None, **given: Callable[..., Awaitable[Any]]) -> UseCases:
    """Use cases of which only the given ones may be called; anybody is authenticated.

    `commit_item` is what every stream of commits does with its items.
    """

    async def open_to_anybody(_: Caller) -> CommitItem:
        return commit_item or _unexpected

    chosen: dict[str, Any] = {field.name: _unexpected for field in fields(UseCases)}
    anybody = {
        "authenticate": authenticate_anybody,
        "admit_stream": admit_anybody,
        "open_commit_stream": open_to_anybody,
    }
    return UseCases(**chosen | anybody | given)


async def admit_anybody(_: Caller) -> None:
    """Lets every stream be opened."""


class Stream:
    """A stream of commits as its caller sees it; bytes go in and outcomes come out."""

    def __init__(self, channel: aio.Channel, **options: Any) -> None:
        options.setdefault("metadata", PROOF)
        opened: aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(STREAM)
        self.call = opened(**options)

    async def send(self, *items: bytes | StreamCommitValidatedRequest) -> None:
        """Sends items, or bytes that are none."""
        for item in items:
            await self.call.write(item if isinstance(item, bytes) else item.SerializeToString())

    async def outcome(self) -> StreamCommitValidatedResponse | None:
        """The next outcome; None when the stream has ended well."""
        answer = await self.call.read()
        return StreamCommitValidatedResponse.FromString(answer) if isinstance(answer, bytes) else None

    async def outcomes(self) -> list[StreamCommitValidatedResponse]:
        """The rest of them, once the stream has ended well."""
        found = []
        while (answer := await self.outcome()) is not None:
            found.append(answer)
        return found

    async def close(self) -> list[StreamCommitValidatedResponse]:
        """Sends no more: the rest of the outcomes, once the stream has ended well."""
        await self.call.done_writing()
        return await self.outcomes()

    async def fails(self) -> "Failure":
        """Why the stream ends, when nothing more comes before. One that does not fail is an error."""
        try:
            answer = await self.outcome()
        except aio.AioRpcError as error:
            return Failure(error)
        raise AssertionError(f"the stream did not fail: {answer}")


class Watching:
    """A watch as its caller sees it: one request goes in, and messages come out."""

    def __init__(self, channel: aio.Channel, rpc: Rpc, request: bytes = b"", **options: Any) -> None:
        options.setdefault("metadata", PROOF)
        method: aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(rpc.path)
        self.call = method(request, **options)
        self._response_class: Any = rpc.response_class

    async def message(self) -> Any:
        """The next message; None when the watch has ended well."""
        answer = await self.call.read()
        return self._response_class.FromString(answer) if isinstance(answer, bytes) else None

    async def fails(self) -> "Failure":
        """Why the watch ends, when nothing more comes before. One that does not fail is an error."""
        try:
            answer = await self.message()
        except aio.AioRpcError as error:
            return Failure(error)
        raise AssertionError(f"the watch did not fail: {answer}")


@dataclass(frozen=True, slots=True)
class Running:
    """A started server and a channel to it."""

    server: RpcServer
    port: int
    channel: aio.Channel

    async def call(self, method: str, request: bytes, **options: Any) -> bytes:
        """Sends bytes and gives back bytes; with a proof unless other metadata is given."""
        options.setdefault("metadata", PROOF)
        call: aio.UnaryUnaryMultiCallable[bytes, bytes] = self.channel.unary_unary(method)
        return await call(request, **options)

    def stream(self, **options: Any) -> Stream:
        """A stream of commits; with a proof unless other metadata is given."""
        return Stream(self.channel, **options)

    async def fail_elsewhere(self) -> "Failure":
        """Why a call from a connection of its own fails."""
        async with aio.insecure_channel(f"127.0.0.1:{self.port}", (("grpc.use_local_subchannel_pool", 1),)) as channel:
            return await Running(self.server, self.port, channel).fail()

    async def fail(self, method: str = GET_RECORD, request: bytes = ONE_RECORD, **options: Any) -> "Failure":
        """Why the call fails. A call that does not fail is an error."""
        try:
            await self.call(method, request, **options)
        except aio.AioRpcError as error:
            return Failure(error)
        raise AssertionError("the call did not fail")


class Failure:
    """What a caller sees of a failed call."""

    def __init__(self, error: aio.AioRpcError) -> None:
        self.code: StatusCode = error.code()
        self.message = error.details() or ""
        trailers = error.trailing_metadata() or ()
        packed = next((value for key, value in trailers if key == "grpc-status-details-bin"), None)
        self.status = None if packed is None else Status.FromString(packed)
        self.everything = f"{error} {list(trailers)} {error.debug_error_string()}"

    @property
    def info(self) -> ErrorInfo:
        """The ErrorInfo. Every refusal of the service itself has one."""
        found = self._detail(ErrorInfo)
        assert found is not None, self.everything
        return found

    @property
    def reason(self) -> str:
        """The reason in the ErrorInfo."""
        return str(self.info.reason)

    @property
    def retry(self) -> RetryInfo | None:
        """When to try again, if that helps."""
        return self._detail(RetryInfo)

    @property
    def violation(self) -> tuple[str, str] | None:
        """Field and description of the one violation of shape."""
        bad = self._detail(BadRequest)
        if bad is None:
            return None
        (violation,) = bad.field_violations
        return violation.field, violation.description

    def _detail(self, kind: Any) -> Any:
        assert self.status is None or self.status.code == self.code.value[0]
        packed = [] if self.status is None else [detail for detail in self.status.details if detail.Is(kind.DESCRIPTOR)]
        return kind.FromString(packed[0].value) if packed else None


def reason_of(outcome: CommitOutcome) -> tuple[str, dict[str, str]]:
    """Why one of many was refused."""
    (detail,) = [detail for detail in outcome.status.details if detail.Is(ErrorInfo.DESCRIPTOR)]
    info = ErrorInfo.FromString(detail.value)
    return info.reason, dict(info.metadata)


@asynccontextmanager
async def running(
    cases: UseCases, *, start: bool = True, later: Later | None = None, **options: Any
) -> AsyncIterator[Running]:
    """A server of the use cases; stopped at once in the end."""
    server = RpcServer(cases, AUDIENCE, ServerOptions(**options), new_incident_id=lambda: INCIDENT, later=later)
    port = server.bind("127.0.0.1:0")
    if start:
        await server.start()
        server.set_serving(serving=True)
    async with aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield Running(server, port, channel)
    await server.stop(0)
