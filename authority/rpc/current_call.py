"""What the interceptors know of the call that runs in this task."""

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

from authority.domain.identity import Caller

if TYPE_CHECKING:
    from grpc import aio

# Quoted, for the class takes type arguments in its stubs only.
Context: TypeAlias = "aio.ServicerContext[Any, Any]"
"""gRPC's own side of a call."""

_caller: ContextVar[Caller] = ContextVar("caller")
_deadline: ContextVar[float] = ContextVar("deadline")


def current_caller() -> Caller:
    """The authenticated caller. Raises LookupError in an RPC that needs no proof."""
    return _caller.get()


def current_deadline() -> float:
    """When an answer must be ready, in seconds of event loop time: before the caller or the server's cap gives up."""
    return _deadline.get()


def set_caller(caller: Caller) -> None:
    """Told by the interceptor that authenticated the call; gRPC runs each call in a task, and context, of its own."""
    _caller.set(caller)


def set_deadline(deadline: float) -> None:
    """Told by the interceptor that bounds the call."""
    _deadline.set(deadline)
