"""Sees every call of a test's server before its servicer does: judges the proof, notes it, and has faults happen."""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from grpc import aio
from grpc_status import rpc_status  # type: ignore[import-untyped]

from capability_authority.offline import (
    PROOF_METADATA_KEY,
    PublicKey,
    StatementError,
    open_statement,
    parse_statement,
    sha256,
)
from capability_authority.v1.capability_service_pb2 import CommitValidatedRequest
from capability_authority.v1.statements_pb2 import Invocation

DOMAIN = "capability-authority"

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
MaybeHandler: TypeAlias = "grpc.RpcMethodHandler[Any, Any] | None"
Context: TypeAlias = "aio.ServicerContext[Any, Any]"
Behaviour: TypeAlias = Callable[[Message, Context], Awaitable[Message]]


@dataclass(eq=False)
class Refusal(Exception):
    """How a call ends that is refused."""

    code: grpc.StatusCode
    reason: str = ""
    """Without one there is no ErrorInfo, as when the transport itself refuses."""
    metadata: dict[str, str] = field(default_factory=dict)
    retry_delay: float | None = None
    sentence: str = "refused by the test"
    domain: str = DOMAIN

    def status(self) -> Status:
        """What the caller is told."""
        code, _ = self.code.value
        status = Status(code=code, message=self.sentence)
        if self.reason:
            status.details.add().Pack(ErrorInfo(reason=self.reason, domain=self.domain, metadata=self.metadata))
        if self.retry_delay is not None:
            delay = Duration()
            delay.FromMilliseconds(int(self.retry_delay * 1000))
            status.details.add().Pack(RetryInfo(retry_delay=delay))
        return status

    async def end(self, context: Context) -> None:
        """End the call so."""
        status = self.status()
        wanted = rpc_status.to_status(status)
        await context.abort(wanted.code, wanted.details, wanted.trailing_metadata if status.details else ())


@dataclass(frozen=True)
class Refuse:
    """The servicer never sees the call."""

    refusal: Refusal


@dataclass(frozen=True)
class LoseAnswer:
    """The servicer does its work; the caller never learns."""


@dataclass
class Hang:
    """The call waits until its caller gives up."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    given_up: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.given_up.set()


@dataclass(frozen=True)
class Serve:
    """Nothing happens to the call; what is said after it happens to the next."""


Fault = Refuse | LoseAnswer | Hang | Serve


@dataclass(frozen=True)
class Received:
    """One attempt as it arrived."""

    rpc: str
    request_bytes: bytes
    invocation: Invocation | None
    metadata: dict[str, str | bytes]


class Witness(aio.ServerInterceptor):
    """Opens the proof over the bytes as they arrived, as the authority does, before anything reads them."""

    def __init__(self, audience: str, keys: dict[str, PublicKey]) -> None:
        self.received: list[Received] = []
        self.faults: defaultdict[str, deque[Fault]] = defaultdict(deque)
        self._audience = audience
        self._keys = keys
        self._nonces: set[bytes] = set()

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[MaybeHandler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> MaybeHandler:
        """The handler, with its deserializer taken off."""
        handler = await continuation(handler_call_details)
        assert handler is not None
        return self._wrapped(handler, handler_call_details.method)

    def _wrapped(self, handler: Handler, path: str) -> Handler:
        if handler.response_streaming:
            return self._stream(handler, path) if handler.request_streaming else self._watch(handler, path)
        return self._unary(handler, path)

    def _watch(self, handler: Handler, path: str) -> Handler:
        behaviour: Any = handler.unary_stream
        deserialize: Any = handler.request_deserializer
        name = path.rpartition("/")[2]

        async def witness(raw: bytes, context: Context) -> AsyncIterator[Message]:
            try:
                self._note(name, path, raw, context)
                fault = self.faults[name].popleft() if self.faults[name] else None
                if isinstance(fault, Refuse):
                    raise fault.refusal
                if isinstance(fault, Hang):
                    await fault()
                async for answer in behaviour(deserialize(raw), context):
                    yield answer
                _lose_the_rest(fault)
            except Refusal as refusal:
                await refusal.end(context)
                raise

        return grpc.unary_stream_rpc_method_handler(
            witness,
            request_deserializer=None,
            response_serializer=handler.response_serializer,
        )

    def _stream(self, handler: Handler, path: str) -> Handler:
        behaviour: Any = handler.stream_stream

        async def witness(items: AsyncIterator[Message], context: Context) -> AsyncIterator[Message]:
            name = path.rpartition("/")[2]
            try:
                self._note(name, path, b"", context)
                fault = self.faults[name].popleft() if self.faults[name] else None
                if isinstance(fault, Refuse):
                    raise fault.refusal
                if isinstance(fault, Hang):
                    await fault()
                async for answer in behaviour(items, context):
                    yield answer
            except Refusal as refusal:
                await refusal.end(context)
                raise

        return grpc.stream_stream_rpc_method_handler(
            witness,
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )

    def _unary(self, handler: Handler, path: str) -> Handler:
        behaviour: Any = handler.unary_unary
        deserialize: Any = handler.request_deserializer
        name = path.rpartition("/")[2]

        async def witness(raw: bytes, context: Context) -> Message:
            try:
                self._note(name, path, raw, context)
                return await self._with_fault(name, behaviour, deserialize(raw), context)
            except Refusal as refusal:
                await refusal.end(context)
                raise

        return grpc.unary_unary_rpc_method_handler(
            witness,
            request_deserializer=None,
            response_serializer=handler.response_serializer,
        )

    async def _with_fault(self, name: str, behaviour: Behaviour, request: Message, context: Context) -> Message:
        fault = self.faults[name].popleft() if self.faults[name] else None
        if isinstance(fault, Refuse):
            raise fault.refusal
        if isinstance(fault, Hang):
            await fault()
        answer = await behaviour(request, context)
        if isinstance(fault, LoseAnswer):
            raise Refusal(grpc.StatusCode.UNAVAILABLE, sentence="connection reset")
        return answer

    def _note(self, name: str, path: str, raw: bytes, context: Context) -> None:
        entries: Any = context.invocation_metadata() or ()
        proofs = [value for key, value in entries if key == PROOF_METADATA_KEY]
        invocation = None
        if name == "GetKeySet":
            assert not proofs, "a call that needs no proof must not give one away"
        elif name == "CommitValidated" and CommitValidatedRequest.FromString(raw).upstream_envelope_json:
            assert not proofs, "an envelope replaces the proof"
        else:
            invocation = self._opened(proofs, path, raw)
        self.received.append(Received(name, raw, invocation, dict(entries)))

    def _opened(self, proofs: list[bytes], path: str, raw: bytes) -> Invocation:
        if len(proofs) != 1:
            raise Refusal(grpc.StatusCode.UNAUTHENTICATED, "CALLER_UNAUTHENTICATED")
        try:
            invocation = open_statement(parse_statement(proofs[0]), expected=Invocation, keys=self._keys.get)
        except StatementError:
            raise Refusal(grpc.StatusCode.UNAUTHENTICATED, "CALLER_UNAUTHENTICATED") from None
        named = (invocation.audience, invocation.method, invocation.request_digest)
        if named != (self._audience, path, sha256(raw)):
            raise Refusal(grpc.StatusCode.PERMISSION_DENIED, "PROOF_INVALID")
        if invocation.nonce in self._nonces:
            raise Refusal(grpc.StatusCode.PERMISSION_DENIED, "PROOF_REPLAYED")
        self._nonces.add(invocation.nonce)
        return invocation


def _lose_the_rest(fault: Fault | None) -> None:
    if isinstance(fault, LoseAnswer):
        raise Refusal(grpc.StatusCode.UNAVAILABLE, sentence="connection reset")
