"""Wraps the handlers of RPCs: of unary ones, and of streams, whose answers or whose requests too are many.

The streams of the standard services (health watching, reflection) pass untouched: they reach no use case.
"""

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import grpc
from grpc import aio

from authority.rpc.current_call import Context
from authority.rpc.methods import OPEN_SERVICES

Behaviour: TypeAlias = Callable[[Any, Context], Awaitable[Any]]
"""What a handler does. A stream's gives its answers to its context, takes items from it unless it has one request, and
answers with nothing."""
# Quoted, for these classes take type arguments in their stubs only.
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
MaybeHandler: TypeAlias = "grpc.RpcMethodHandler[Any, Any] | None"


class Interceptor(aio.ServerInterceptor):
    """An interceptor that replaces the handlers of RPCs."""

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[MaybeHandler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> MaybeHandler:
        """The handler of the RPC, wrapped."""
        handler, method = await continuation(handler_call_details), handler_call_details.method
        if handler is None:
            return self.replace_missing(method)
        if not (handler.request_streaming or handler.response_streaming):
            return self.wrap(handler, method)
        return handler if method.startswith(OPEN_SERVICES) else self.wrap_stream(handler, method)

    def replace_missing(self, method: str) -> MaybeHandler:  # noqa: ARG002 - for those who override it
        """What answers for an RPC that nothing serves; None leaves the answer to gRPC."""
        return None

    @abstractmethod
    def wrap(self, handler: Handler, method: str) -> Handler:
        """A handler around this one of a unary RPC."""

    @abstractmethod
    def wrap_stream(self, handler: Handler, method: str) -> Handler:
        """A handler around this one of an RPC that streams."""


def behaviour_of(handler: Handler) -> Behaviour:
    """The coroutine function of a handler. Every servicer here is asynchronous, and no RPC streams requests alone."""
    if handler.response_streaming:
        behaviour: Any = handler.stream_stream if handler.request_streaming else handler.unary_stream
    else:
        behaviour = handler.unary_unary
    assert behaviour is not None
    return behaviour  # type: ignore[no-any-return] # the stubs know synchronous servicers only


def unary_handler(
    behaviour: Behaviour,
    request_deserializer: Callable[[bytes], Any] | None,
    response_serializer: Callable[[Any], bytes] | None,
) -> Handler:
    """A handler; without a deserializer it is given the request's bytes, without a serializer it answers bytes."""
    return grpc.unary_unary_rpc_method_handler(
        behaviour,
        request_deserializer=request_deserializer,
        response_serializer=response_serializer,
    )


def stream_handler(behaviour: Behaviour) -> Handler:
    """A handler that reads bytes from its context and writes bytes to it."""
    return grpc.stream_stream_rpc_method_handler(behaviour)


def watch_handler(behaviour: Behaviour, request_deserializer: Callable[[bytes], Any] | None) -> Handler:
    """A handler that is given one request and writes bytes to its context."""
    return grpc.unary_stream_rpc_method_handler(behaviour, request_deserializer=request_deserializer)


def stream_like(handler: Handler, behaviour: Behaviour) -> Handler:
    """A handler that streams the same ways as the other."""
    if handler.request_streaming:
        return stream_handler(behaviour)
    return watch_handler(behaviour, handler.request_deserializer)
