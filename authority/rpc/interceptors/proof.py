"""Authenticates a call by the proof over its bytes, before those are read (semantics §2)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256

from google.protobuf.message import Message

from authority.domain import limits
from authority.domain.identity import Caller
from authority.domain.invocation import Call
from authority.domain.refusal import Refusal
from authority.rpc.current_call import Context, set_caller, set_shown, set_traceparent, traceparent_of
from authority.rpc.interceptors.reading import read, read_strictly, refuse_unknown
from authority.rpc.interceptors.shown import shown_by
from authority.rpc.interceptors.wrapping import (
    Behaviour,
    Handler,
    Interceptor,
    behaviour_of,
    stream_handler,
    unary_handler,
    watch_handler,
)
from authority.rpc.methods import TAKES_ENVELOPE, MethodKind, kind_of
from authority.rpc.refused import Refused, value_or_refuse
from authority.usecases.authenticate import Shown
from capability_authority.v1.capability_service_pb2 import CommitValidatedRequest

_NO_BYTES = b""
"""What the proof of a stream is over: its items come later, and under keys of their own."""


@dataclass(frozen=True, slots=True)
class Proofs(Interceptor):
    """Takes the deserializer off, has the caller authenticated, and reads the bytes strictly.

    That order is the error table's: CALLER_UNAUTHENTICATED, then MALFORMED; whether the proof fits the call is told by
    the use case, after the rest of the shape. gRPC has decompressed the bytes already: those are what was signed.
    Where a signed envelope in the request replaces the Invocation, the use case authenticates the call by it.
    """

    authenticate: Callable[[Shown, Call], Awaitable[Caller | Refusal]]
    audience: str

    def wrap(self, handler: Handler, method: str) -> Handler:
        """A handler of raw request bytes."""
        return unary_handler(self._prove_request(handler, method), None, handler.response_serializer)

    def _prove_request(self, handler: Handler, method: str) -> Behaviour:
        deserialize, behaviour = handler.request_deserializer, behaviour_of(handler)
        assert deserialize is not None

        async def prove(raw: bytes, context: Context) -> object:
            if kind_of(method) is MethodKind.OPEN:
                return await behaviour(read_strictly(deserialize, raw), context)
            shown = shown_by(context)
            # What shows an Invocation is proven already, and read no earlier than any other.
            early = _read_early(deserialize, raw) if method in TAKES_ENVELOPE and not shown.proofs else None
            if early is not None and _holds_envelope(early):
                set_traceparent(traceparent_of(context))
                set_shown(shown)
            else:
                set_caller(await self._caller(method, raw, shown, context))
            request = early if early is not None else read(deserialize, raw)
            refuse_unknown(deserialize, raw, request)
            return await behaviour(request, context)

        return prove

    def wrap_stream(self, handler: Handler, method: str) -> Handler:
        """A handler whose caller is known before it runs: a check among the items would let it write before.

        A stream with one request is proven as a call is, over the bytes of that.
        """
        if not handler.request_streaming:
            return watch_handler(self._prove_request(handler, method), None)
        behaviour = behaviour_of(handler)

        async def prove(items: object, context: Context) -> None:
            set_caller(await self._caller(method, _NO_BYTES, shown_by(context), context))
            await behaviour(items, context)

        return stream_handler(prove)

    async def _caller(self, method: str, raw: bytes, shown: Shown, context: Context) -> Caller:
        set_traceparent(traceparent_of(context))
        kind, digest = kind_of(method), sha256(raw).digest()
        call = Call(self.audience, method, digest, is_read=kind is MethodKind.READ, opens_stream=kind.opens_stream)
        return value_or_refuse(await self.authenticate(shown, call))


def _read_early(deserialize: Callable[[bytes], Message], raw: bytes) -> Message | None:
    """The request of a caller who is not known yet; None for bytes that are none: strangers are told nothing.

    Nor is a request read that is larger than any commit: two million texts fit into one, and nobody else is served
    while protobuf makes them (case D16).
    """
    if len(raw) > limits.COMMIT_BYTES:
        return None
    try:
        return read(deserialize, raw)
    except Refused:
        return None


def _holds_envelope(request: Message) -> bool:
    """Whether the request brings its own proof, so that the use case authenticates the call."""
    return isinstance(request, CommitValidatedRequest) and bool(request.upstream_envelope_json)
