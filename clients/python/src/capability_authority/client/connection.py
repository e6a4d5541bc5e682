"""One connection to one authority: sends a call as exactly the bytes that were signed."""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from types import TracebackType
from typing import Final, Self, TypeVar, Unpack
from uuid import uuid4

import grpc
from google.protobuf.message import DecodeError, Message
from grpc import aio

from capability_authority.client.batches import BatchItem, divided, settle
from capability_authority.client.call_options import CallOptions
from capability_authority.client.channel import TlsRoots, open_channel, require_protected
from capability_authority.client.credentials import Credentials
from capability_authority.client.errors import TransportError
from capability_authority.client.key_sets import KeySets
from capability_authority.client.proofs import Prover
from capability_authority.client.retries import RetryPolicy, with_retries
from capability_authority.client.rpcs import Rpc, rpc_named, rpc_of
from capability_authority.client.statuses import KeyedCall, failure_of
from capability_authority.client.streams import StreamedItems, StreamSettings
from capability_authority.client.tracing import trace_entries
from capability_authority.client.watches import watched
from capability_authority.v1.capability_service_pb2 import GetKeySetRequest, GetKeySetResponse

__all__ = ["Connection", "ConnectionClosed"]

M = TypeVar("M", bound=Message)
Item = TypeVar("Item", bound=BatchItem)

_MOST_BYTES: Final = 4 * 1024 * 1024
"""A larger request is refused by gRPC on the other side, in a way that leaves it open whether anything happened."""
_LEAST_TIMEOUT: Final = 0.001
"""Seconds: a call that is sent with less time left cannot be answered."""


class ConnectionClosed(RuntimeError):
    """The client is not inside `async with`, or was entered in another process: channels do not survive a fork."""


class Connection:
    """What the verbs stand on."""

    def __init__(
        self,
        *,
        prover: Prover,
        target: str,
        tls: TlsRoots | None,
        retries: RetryPolicy,
        timeout: float,
        pinned_key_ids: frozenset[str] | None,
    ) -> None:
        require_protected(target, tls)
        self._prover = prover
        self._target = target
        self._tls = tls
        self._retries = retries
        self._timeout = timeout
        self._channel: aio.Channel | None = None
        self._process_id = 0
        self._key_sets = KeySets(
            self._fetch_key_set, issuer=prover.credentials.issuer, pinned_key_ids=pinned_key_ids, clock=retries.clock
        )

    @property
    def credentials(self) -> Credentials:
        """Who calls, and which authority is believed."""
        return self._prover.credentials

    async def __aenter__(self) -> Self:
        # Not earlier: a channel belongs to its event loop and must be made after any fork (case F15).
        if self._channel is not None:
            raise RuntimeError("the client is entered already")
        self._channel, self._process_id = open_channel(self._target, self._tls), os.getpid()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection; calls that still run end with `TransportError`. Closing again does nothing."""
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()

    async def call(self, rpc: str, request: Message, **options: Unpack[CallOptions]) -> Message:
        """Call any RPC by its name, "CommitValidated" or longer; the response message.

        An empty `request_id` is filled in, the same for all attempts. Raises `UnknownRpc`, `TypeError` when `request`
        is not the RPC's request message, `ValueError` for a stream, and `AuthorityError`.
        """
        known = rpc_named(rpc)
        if known.is_stream:
            raise ValueError(f"{known.name} is a stream, not a call")
        if not isinstance(request, known.request_class):
            raise TypeError(f"{known.name} takes {known.request_class.__name__}, not {type(request).__name__}")
        return await self._send(request, known.response_class, **options)

    async def _send(self, request: Message, response_class: type[M], **options: Unpack[CallOptions]) -> M:
        """One logical call: the same bytes and key in every attempt, a proof of its own for each."""
        request = _with_request_id(request)
        call = KeyedCall.of(rpc_of(type(request)), request)
        data = _sendable(call, request)
        entries = trace_entries(options.get("traceparent"))
        answer = await with_retries(
            lambda seconds: self._attempt(call, data, entries, seconds),
            timeout=options.get("timeout", self._timeout),
            policy=self._retries,
        )
        return _read(call, response_class, answer)

    async def _send_batch(self, rpc: Rpc, items: Sequence[BatchItem], **options: Unpack[CallOptions]) -> None:
        """Have every item answered, by as few calls of a batch RPC as its limits allow, one after the other."""
        entries = trace_entries(options.get("traceparent"))
        deadline = self._now() + options.get("timeout", self._timeout)

        async def ask(some: Sequence[BatchItem], seconds: float) -> Sequence[Message]:
            request = rpc.request_class(requests=[item.request for item in some])
            call = KeyedCall.of(rpc, request)
            answer = await self._attempt(call, request.SerializeToString(), entries, seconds)
            outcomes: Sequence[Message] = _read(call, rpc.response_class, answer).outcomes  # type: ignore[attr-defined]
            if len(outcomes) != len(some):
                sentence = f"the answer has {len(outcomes)} outcomes for {len(some)} requests"
                raise TransportError(call.failure(None, sentence))
            return outcomes

        for item in items:
            item.answer = _too_large(item.call, item.bytes_in_batch)
        for part in divided([item for item in items if item.is_open]):
            await settle(part, ask, seconds=deadline - self._now(), policy=self._retries)

    def _stream_batch(
        self,
        rpc: Rpc,
        source: AsyncIterator[Item],
        window: int,
        **options: Unpack[CallOptions],
    ) -> StreamedItems[Item]:
        """Have every item of the source answered, over streams of an RPC that each have a proof of their own."""
        entries: list[tuple[str, str | bytes]] = [*trace_entries(options.get("traceparent"))]
        seconds = options.get("timeout", self._timeout)

        def connect() -> "aio.StreamStreamCall[bytes, bytes]":
            method: aio.StreamStreamMultiCallable[bytes, bytes] = self._open_channel().stream_stream(rpc.path)
            return method(metadata=[*entries, *self._prover.entries(rpc.path, b"")])

        async def sized() -> AsyncIterator[Item]:
            async for item in source:
                item.answer = _too_large(item.call, item.bytes_in_batch)
                yield item

        settings = StreamSettings(window=window, seconds=seconds, policy=self._retries)
        return StreamedItems(KeyedCall(rpc), sized(), connect, settings)

    def _watch(
        self,
        request: Message,
        response_class: type[M],
        take_in: Callable[[M], None],
        **options: Unpack[CallOptions],
    ) -> AsyncGenerator[M, None]:
        """What a watch tells, over as many streams as it takes; `take_in` moves the request on after each message."""
        entries: list[tuple[str, str | bytes]] = [*trace_entries(options.get("traceparent"))]
        known = rpc_of(type(request))

        def connect(data: bytes) -> "aio.UnaryStreamCall[bytes, bytes]":
            method: aio.UnaryStreamMultiCallable[bytes, bytes] = self._open_channel().unary_stream(known.path)
            return method(data, metadata=[*entries, *self._prover.entries(known.path, data)])

        return watched(KeyedCall(known), request, response_class, connect, take_in, self._retries)

    async def _attempt(
        self, call: KeyedCall, data: bytes, entries: tuple[tuple[str, str], ...], seconds: float
    ) -> bytes:
        """Sign the bytes, then send those very bytes: without a serializer gRPC passes them through."""
        metadata: list[tuple[str, str | bytes]] = list(entries)
        if call.rpc.needs_proof:
            metadata += self._prover.entries(call.rpc.path, data, proves_itself=call.proves_itself)
        method: aio.UnaryUnaryMultiCallable[bytes, bytes] = self._open_channel().unary_unary(call.rpc.path)
        try:
            return await method(data, timeout=seconds, metadata=metadata)
        except aio.AioRpcError as error:
            raise failure_of(call, error) from None
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            # gRPC says so when the channel was closed below the call.
            sentence = "the connection was closed during the call"
            raise TransportError(call.failure(None, sentence)) from None

    def _open_channel(self) -> aio.Channel:
        if self._channel is None:
            raise ConnectionClosed("use the client inside `async with`")
        if self._process_id != os.getpid():
            raise ConnectionClosed("the client was entered before a fork; enter one in each process")
        return self._channel

    def _now(self) -> float:
        return self._retries.clock()

    def _started(self, options: CallOptions) -> Callable[[], CallOptions]:
        """Options for what is left of the time of a verb that starts now and makes several calls."""
        deadline = self._now() + options.get("timeout", self._timeout)

        def remaining() -> CallOptions:
            left: CallOptions = {**options, "timeout": max(deadline - self._now(), _LEAST_TIMEOUT)}
            return left

        return remaining

    async def _fetch_key_set(self, **options: Unpack[CallOptions]) -> GetKeySetResponse:
        return await self._send(GetKeySetRequest(), GetKeySetResponse, **options)


def _sendable(call: KeyedCall, request: Message) -> bytes:
    data = request.SerializeToString()
    if refused := _too_large(call, len(data)):
        raise refused
    return data


def _too_large(call: KeyedCall, size: int) -> TransportError | None:
    if size <= _MOST_BYTES:
        return None
    sentence = f"not sent: the request has {size} bytes, {_MOST_BYTES} are the most that gRPC takes"
    return TransportError(call.failure(grpc.StatusCode.RESOURCE_EXHAUSTED, sentence))


def _read(call: KeyedCall, response_class: type[M], answer: bytes) -> M:
    try:
        return response_class.FromString(answer)
    except DecodeError:
        sentence = "the answer is not a message of this RPC"
        raise TransportError(call.failure(None, sentence)).after(1, in_doubt=True) from None


def _is_cancelled() -> bool:
    """Whether it is our own caller that gave up."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _with_request_id(request: M) -> M:
    """The request, or a copy of it with a new id where it has room for one and none is set."""
    if "request_id" not in request.DESCRIPTOR.fields_by_name or request.request_id:  # type: ignore[attr-defined]
        return request
    copy = type(request)()
    copy.CopyFrom(request)
    copy.request_id = str(uuid4())  # type: ignore[attr-defined]
    return copy
