"""Wraps the handlers of unary RPCs; this contract has no other RPCs yet.

The streams of the standard services (health watching, reflection) pass untouched: they reach no use case.
"""

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import grpc
from grpc import aio

from authority.rpc.current_call import Context

Behaviour: TypeAlias = Callable[[Any, Context], Awaitable[Any]]
# Quoted, for these classes take type arguments in their stubs only.
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
MaybeHandler: TypeAlias = "grpc.RpcMethodHandler[Any, Any] | None"


class UnaryInterceptor(aio.ServerInterceptor):
    """An interceptor that replaces the handlers of unary RPCs and leaves every other alone."""

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[MaybeHandler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> MaybeHandler:
        """The handler of the RPC, wrapped."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return self.replace_missing(handler_call_details.method)
        if handler.request_streaming or handler.response_streaming:
            return handler
        return self.wrap(handler, handler_call_details.method)

    def replace_missing(self, method: str) -> MaybeHandler:  # noqa: ARG002 - for those who override it
        """What answers for an RPC that nothing serves; None leaves the answer to gRPC."""
        return None

    @abstractmethod
    def wrap(self, handler: Handler, method: str) -> Handler:
        """A handler around this one of a unary RPC."""


def behaviour_of(handler: Handler) -> Behaviour:
    """The coroutine function of a unary handler. Every servicer here is asynchronous."""
    behaviour: Any = handler.unary_unary
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
