"""The outermost interceptor: tells of each call by a span and by metrics, and changes nothing of its answer.

Ours, and not the one that OpenTelemetry has for grpc.aio: that one takes refusals for exceptions, and has recorded them
twice and lost trailers.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import grpc
from grpc import aio

from authority.rpc.current_call import Context, known_caller, known_refusal, sent_trace, sent_user_agent
from authority.rpc.errors import TABLE
from authority.rpc.interceptors.wrapping import Handler, Interceptor, behaviour_of, stream_like, unary_handler
from authority.rpc.methods import METHODS, OPEN_SERVICES
from authority.telemetry import metrics, spans
from authority.telemetry.names import (
    PRINCIPAL,
    REASON,
    REFUSALS,
    RPC,
    RPC_CODE,
    RPC_DURATION,
    RPC_METHOD,
    RPC_SYSTEM,
    TENANT,
    USER_AGENT,
)
from authority.telemetry.spans import OpenSpan

_ERRORS: Final = frozenset(
    code.name
    for code in (
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    )
)
"""The codes that are errors of a server's span, by OpenTelemetry's conventions: a refusal is none."""
_UNKNOWN_METHOD: Final = "unknown"


class Observing(Interceptor):
    """Put it before all others. Calls of the standard services pass unobserved: they are asked all the time."""

    def wrap(self, handler: Handler, method: str) -> Handler:
        """A handler whose calls are told of."""
        if method.startswith(OPEN_SERVICES):
            return handler
        behaviour = behaviour_of(handler)

        async def observe(request: object, context: Context) -> object:
            begun = time.perf_counter()
            with _told_of(method, context) as told:
                try:
                    return await behaviour(request, context)
                finally:
                    told.lasted_s = time.perf_counter() - begun

        return unary_handler(observe, handler.request_deserializer, handler.response_serializer)

    def wrap_stream(self, handler: Handler, method: str) -> Handler:
        """A handler whose streams are told of; not how long they last, for that is up to their callers."""
        behaviour = behaviour_of(handler)

        async def observe(items: object, context: Context) -> None:
            with _told_of(method, context):
                await behaviour(items, context)

        return stream_like(handler, observe)


class _Told:
    lasted_s: float | None = None


@contextmanager
def _told_of(method: str, context: Context) -> Iterator[_Told]:
    # Strangers may call anything: of what is not in the contract neither spans nor metrics take the name.
    name = method.removeprefix("/") if method in METHODS else _UNKNOWN_METHOD
    told, code = _Told(), grpc.StatusCode.OK.name
    with spans.continuing(RPC.of(name), *sent_trace(context)) as span:
        span.set(RPC_SYSTEM, "grpc")
        span.set(RPC_METHOD, name)
        if spans.are_heard():
            span.set(USER_AGENT, sent_user_agent(context))
        try:
            yield told
        except aio.AbortError:
            code = _refused_with(span, name)
            raise
        except asyncio.CancelledError:
            code = grpc.StatusCode.CANCELLED.name
            raise
        except Exception:
            code = grpc.StatusCode.UNKNOWN.name
            raise
        finally:
            _conclude(span, name, code, told.lasted_s)


def _refused_with(span: OpenSpan, name: str) -> str:
    refusal = known_refusal()
    if refusal is None:
        return grpc.StatusCode.UNKNOWN.name
    span.set(REASON, refusal.reason.name)
    metrics.count(REFUSALS, short_name(name), refusal.reason.name)
    return TABLE[refusal.reason].code.name


def _conclude(span: OpenSpan, name: str, code: str, lasted_s: float | None) -> None:
    span.set(RPC_CODE, code)
    if code in _ERRORS:
        span.fail(code)
    if caller := known_caller():
        span.set(TENANT, str(caller.tenant))
        span.set(PRINCIPAL, str(caller.ref))
    if lasted_s is not None:
        metrics.record(RPC_DURATION, lasted_s, short_name(name), code)


def short_name(method: str) -> str:
    """The method as metrics name it: no two services of the contract have methods of one name."""
    return method.rpartition("/")[2]
