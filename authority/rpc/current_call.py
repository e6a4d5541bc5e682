"""What the interceptors know of the call that runs in this task."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

from authority.domain.identity import Caller
from authority.domain.refusal import Refusal
from authority.telemetry import spans

if TYPE_CHECKING:
    from grpc import aio

    from authority.rpc.open_streams import OpenStream
    from authority.usecases.authenticate import Shown

# Quoted, for the class takes type arguments in its stubs only.
Context: TypeAlias = "aio.ServicerContext[Any, Any]"
"""gRPC's own side of a call."""

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_MOST_OF_A_NAME = 200

_caller: ContextVar[Caller] = ContextVar("caller")
_shown: ContextVar["Shown"] = ContextVar("shown")
_deadline: ContextVar[float] = ContextVar("deadline")
_time_limit: ContextVar[asyncio.Timeout] = ContextVar("time_limit")
_stream: ContextVar["OpenStream"] = ContextVar("stream")
_opener: ContextVar[Callable[[], Awaitable["OpenStream"]]] = ContextVar("opener")
_traceparent: ContextVar[str] = ContextVar("traceparent", default="")
_refusal: ContextVar[Refusal] = ContextVar("refusal")


def current_caller() -> Caller:
    """The authenticated caller. Raises LookupError in an RPC that needs no proof."""
    return _caller.get()


def current_shown() -> "Shown":
    """What a call whose request proves its caller shows beside. Raises LookupError in any other."""
    return _shown.get()


def current_deadline() -> float:
    """When an answer must be ready, in seconds of event loop time: before the caller or the server's cap gives up."""
    return _deadline.get()


def current_stream() -> "OpenStream":
    """The stream that this call is. Raises LookupError in a unary RPC."""
    return _stream.get()


def known_caller() -> Caller | None:
    """The caller, if it was authenticated."""
    return _caller.get(None)


def known_refusal() -> Refusal | None:
    """What the call was refused with, if it was."""
    return _refusal.get(None)


async def open_stream() -> "OpenStream":
    """Opens the stream that this call asks for; nothing of it is served before. Raises `Refused` as `Opening` does."""
    return await _opener.get()()


def traceparent_of(context: Context) -> str:
    """The trace in which this call is, so that a commit's event carries it on: our own span, or else the caller's.

    As a W3C traceparent; '' when there is none.
    """
    return spans.current_traceparent() or sent_trace(context)[0]


def sent_trace(context: Context) -> tuple[str, str]:
    """The W3C traceparent and tracestate that the caller sends along; '' for what is missing or damaged."""
    entries: Any = context.invocation_metadata() or ()
    sent = {key: value for key, value in entries if isinstance(value, str)}
    parent = sent.get("traceparent", "")
    return (parent, sent.get("tracestate", "")) if _TRACEPARENT.fullmatch(parent) else ("", "")


def sent_user_agent(context: Context) -> str:
    """How the client names itself: whatever it says, cut at 200 characters; '' for nothing."""
    entries: Any = context.invocation_metadata() or ()
    names = (value for key, value in entries if key == "user-agent" and isinstance(value, str))
    return next(names, "")[:_MOST_OF_A_NAME]


def current_trace_id() -> str:
    """The trace that the call is part of, 32 hex digits, so that what is told of a change names it; or ''."""
    return _traceparent.get().partition("-")[2].partition("-")[0]


def set_traceparent(traceparent: str) -> None:
    """Told by the interceptor that authenticates the call."""
    _traceparent.set(traceparent)


def set_caller(caller: Caller) -> None:
    """Told by the interceptor that authenticated the call; gRPC runs each call in a task, and context, of its own."""
    _caller.set(caller)


def set_shown(shown: "Shown") -> None:
    """Told by the interceptor that leaves it to the use case to authenticate the call."""
    _shown.set(shown)


def set_refusal(refusal: Refusal) -> None:
    """Told by the interceptor that answers."""
    _refusal.set(refusal)


def set_deadline(deadline: float) -> None:
    """Told by the interceptor that bounds the call."""
    _deadline.set(deadline)


def set_time_limit(limit: asyncio.Timeout) -> None:
    """Told by the interceptor that bounds the call."""
    _time_limit.set(limit)


def put_off_time_limit(seconds: float) -> None:
    """Gives the call so many seconds from now."""
    _time_limit.get().reschedule(asyncio.get_running_loop().time() + seconds)


def set_opener(opener: Callable[[], Awaitable["OpenStream"]]) -> None:
    """Told by the interceptor that opens streams."""
    _opener.set(opener)


def set_stream(stream: "OpenStream") -> None:
    """Told by the interceptor that opened it."""
    _stream.set(stream)
