"""What the interceptors know of the call that runs in this task."""

import re
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

from authority.domain.identity import Caller

if TYPE_CHECKING:
    from grpc import aio

# Quoted, for the class takes type arguments in its stubs only.
Context: TypeAlias = "aio.ServicerContext[Any, Any]"
"""gRPC's own side of a call."""

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")

_caller: ContextVar[Caller] = ContextVar("caller")
_deadline: ContextVar[float] = ContextVar("deadline")


def current_caller() -> Caller:
    """The authenticated caller. Raises LookupError in an RPC that needs no proof."""
    return _caller.get()


def current_deadline() -> float:
    """When an answer must be ready, in seconds of event loop time: before the caller or the server's cap gives up."""
    return _deadline.get()


def traceparent_of(context: Context) -> str:
    """The W3C trace context that the caller sends along, so that a commit's event carries its trace on; or ''."""
    entries: Any = context.invocation_metadata() or ()
    sent = next((value for key, value in entries if key == "traceparent"), "")
    return sent if isinstance(sent, str) and _TRACEPARENT.fullmatch(sent) else ""


def set_caller(caller: Caller) -> None:
    """Told by the interceptor that authenticated the call; gRPC runs each call in a task, and context, of its own."""
    _caller.set(caller)


def set_deadline(deadline: float) -> None:
    """Told by the interceptor that bounds the call."""
    _deadline.set(deadline)
