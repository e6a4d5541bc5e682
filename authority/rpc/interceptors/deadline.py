"""Bounds every call, whatever deadline its caller sent (semantics §10, case F04)."""

import asyncio
from dataclasses import dataclass

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.rpc.bounds import Bounds, end_of
from authority.rpc.current_call import Context, set_deadline, set_time_limit
from authority.rpc.interceptors.wrapping import (
    Behaviour,
    Handler,
    Interceptor,
    behaviour_of,
    stream_like,
    unary_handler,
)
from authority.rpc.refused import Refused


@dataclass(frozen=True, slots=True)
class Deadlines(Interceptor):
    """Tells the use case its deadline, and gives a call up at the cap: its outcome is then unknown to the caller.

    A use case that minds its deadline answers the margin before anybody gives up; where the caller's own deadline is
    shorter, gRPC itself cancels the call. A commit that was sent goes on in either case. Of a stream this bounds the
    opening: one that is open has its time limit put off by its life.
    """

    bounds: Bounds

    def wrap(self, handler: Handler, method: str) -> Handler:  # noqa: ARG002 - every RPC is bounded alike
        """A handler that ends by the cap. Refusal: DEPENDENCY_UNAVAILABLE."""
        bound = self._bounded(behaviour_of(handler))
        return unary_handler(bound, handler.request_deserializer, handler.response_serializer)

    def wrap_stream(self, handler: Handler, method: str) -> Handler:  # noqa: ARG002 - as above
        """A handler that ends by the cap unless the limit is put off. Refusal: DEPENDENCY_UNAVAILABLE."""
        return stream_like(handler, self._bounded(behaviour_of(handler)))

    def _bounded(self, behaviour: Behaviour) -> Behaviour:
        async def bound(request: object, context: Context) -> object:
            set_deadline(self.bounds.deadline(end_of(context)))
            limit = asyncio.timeout(self.bounds.cap)
            set_time_limit(limit)
            try:
                async with limit:
                    return await behaviour(request, context)
            except TimeoutError:
                if limit.expired():
                    raise Refused(Refusal(Reason.DEPENDENCY_UNAVAILABLE)) from None
                raise

        return bound
