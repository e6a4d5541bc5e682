"""Calls to the service under test: bytes out, bytes in, and each within its time."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import grpc
from google.protobuf.json_format import SerializeToJsonError
from google.protobuf.message import DecodeError
from grpc import aio

from capability_authority.offline import KeySet
from capability_authority_conformance.paths import as_json
from capability_authority_conformance.target.conversing import conversed
from capability_authority_conformance.target.outcome import NO_REASON, OK, Outcome, refused, unreadable
from capability_authority_conformance.target.proofs import Metadata
from capability_authority_conformance.target.rpcs import Rpc

if TYPE_CHECKING:
    from capability_authority_conformance.values import Json

__all__ = ["Address", "Fits", "Identity", "Target"]

Fits = Callable[[Outcome], bool]
"""Whether what came so far is enough, so that a stream need not be read on."""

_CONNECTIONS: Final = 10
_CAUTION_S: Final = 1.0
_MOST_MESSAGES: Final = 2_000
_MOST_BYTES: Final = 32 * 1024 * 1024
"""Of one stream: more than any answer of the contract has."""
_OPTIONS: Final = (
    # What the suite sends twice, it sends twice on purpose.
    ("grpc.enable_retries", 0),
    ("grpc.service_config_disable_resolution", 1),
    # Each channel a connection of its own, so that many callers are not one.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
    ("grpc.enable_http_proxy", 0),
)


@dataclass(frozen=True, slots=True)
class Address:
    """Where the target listens, and how it is spoken to."""

    target: str
    """`HOST:PORT`, or another gRPC target."""
    tls_roots: bytes | None = None
    """PEM of who may vouch for the server; None speaks plaintext."""
    call_timeout_s: float = 15.0
    """No call takes longer: then it counts as one that was not answered."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the target says it is."""

    issuer: str
    audience: str
    key_set: KeySet


@dataclass(slots=True)
class Target:
    """The service under test. Close it."""

    address: Address
    _channels: list[aio.Channel] = field(default_factory=list)

    async def call(self, rpc: Rpc, requests: list[bytes], metadata: Metadata, *, caller: int = 0) -> Outcome:
        """Ask once; the outcome, whatever it is. An RPC whose requests do not stream takes exactly one."""
        channel = self._channel(caller)
        timeout = self.address.call_timeout_s
        try:
            if rpc.streams_requests:
                opened: aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(rpc.path)
                stream = opened(timeout=timeout, metadata=metadata)
                return await _gathered(rpc, conversed(stream, requests))
            data = await self.raw(rpc.path, requests[0], metadata, caller=caller)
        except aio.AioRpcError as error:
            return refused(error)
        return _answer(rpc, data)

    async def watch(self, rpc: Rpc, request: bytes, metadata: Metadata, within_s: float, fits: Fits) -> Outcome:
        """Open a stream of answers and gather them until they fit, it ends, or the time is over."""
        opened: aio.UnaryStreamMultiCallable[bytes, bytes] = self._channel(0).unary_stream(rpc.path)
        stream = opened(request, timeout=within_s + _CAUTION_S, metadata=metadata)
        gathered = _Gathered(rpc)
        try:
            async with asyncio.timeout(within_s):
                async for data in stream:
                    outcome = gathered.with_another(data)
                    if outcome.reason != OK or fits(outcome):
                        return outcome
        except TimeoutError:
            pass
        except aio.AioRpcError as error:
            return refused(error)
        finally:
            stream.cancel()
        if not gathered.messages:
            return Outcome(NO_REASON, "DEADLINE_EXCEEDED", f"no message in {within_s:g} s")
        return gathered.outcome

    async def raw(self, path: str, request: bytes, metadata: Metadata = (), *, caller: int = 0) -> bytes:
        """The bytes that a unary RPC of any contract answers with. Raises `AioRpcError`."""
        asked: aio.UnaryUnaryMultiCallable[bytes, bytes] = self._channel(caller).unary_unary(path)
        return await asked(request, timeout=self.address.call_timeout_s, metadata=metadata)

    async def close(self) -> None:
        """End every connection."""
        for channel in self._channels:
            await channel.close()

    def _channel(self, caller: int) -> aio.Channel:
        number = caller % _CONNECTIONS
        while len(self._channels) <= number:
            self._channels.append(self._new_channel())
        return self._channels[number]

    def _new_channel(self) -> aio.Channel:
        if self.address.tls_roots is None:
            return aio.insecure_channel(self.address.target, options=_OPTIONS)
        credentials = grpc.ssl_channel_credentials(self.address.tls_roots)
        return aio.secure_channel(self.address.target, credentials, options=_OPTIONS)


def _answer(rpc: Rpc, data: bytes) -> Outcome:
    try:
        return Outcome(OK, "OK", answer=as_json(rpc.response_class.FromString(data)))
    except (DecodeError, SerializeToJsonError, TypeError, ValueError) as error:
        # Also what is a message, and has no JSON: an instant out of range, a detail of no known type.
        return unreadable(f"{len(data)} bytes that are no {rpc.response.name}: {error}")


@dataclass(slots=True)
class _Gathered:
    """The messages of a stream so far, of which there is an end, whatever the target does."""

    rpc: Rpc
    messages: "list[Json]" = field(default_factory=list)
    size: int = 0

    def with_another(self, data: bytes) -> Outcome:
        """What they come to with one more."""
        self.size += len(data)
        if len(self.messages) == _MOST_MESSAGES or self.size > _MOST_BYTES:
            return unreadable(f"a stream of more than {_MOST_MESSAGES:,} messages, or {_MOST_BYTES:,} bytes")
        outcome = _answer(self.rpc, data)
        if outcome.reason != OK:
            return outcome
        self.messages.append(outcome.answer)
        return self.outcome

    @property
    def outcome(self) -> Outcome:
        """What they come to."""
        return Outcome(OK, "OK", answer={"messages": self.messages})


async def _gathered(rpc: Rpc, answers: AsyncGenerator[bytes, None]) -> Outcome:
    """All of them, up to a message that cannot be read."""
    gathered = _Gathered(rpc)
    async with aclosing(answers):
        async for data in answers:
            outcome = gathered.with_another(data)
            if outcome.reason != OK:
                return outcome
    return gathered.outcome
