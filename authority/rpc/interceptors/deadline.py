"""Bounds every call, whatever deadline its caller sent (semantics §10, case F04)."""

import asyncio
from dataclasses import dataclass

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.rpc.current_call import Context, set_deadline
from authority.rpc.interceptors.unary import Handler, UnaryInterceptor, behaviour_of, unary_handler
from authority.rpc.refused import Refused


@dataclass(frozen=True, slots=True)
class Deadlines(UnaryInterceptor):
    """Tells the use case its deadline, and gives a call up at the cap: its outcome is then unknown to the caller.

    `cap` and `margin` are seconds. A use case that minds its deadline answers `margin` before anybody gives up; where
    the caller's own deadline is shorter, gRPC itself cancels the call. A commit that was sent goes on in either case.
    """

    cap: float
    margin: float

    def wrap(self, handler: Handler, method: str) -> Handler:  # noqa: ARG002 - every RPC is bounded alike
        """A handler that ends by the cap. Refusal: DEPENDENCY_UNAVAILABLE."""
        behaviour = behaviour_of(handler)

        async def bound(request: object, context: Context) -> object:
            set_deadline(asyncio.get_running_loop().time() + self._seconds_left(context))
            scope = asyncio.timeout(self.cap)
            try:
                async with scope:
                    return await behaviour(request, context)
            except TimeoutError:
                if scope.expired():
                    raise Refused(Refusal(Reason.DEPENDENCY_UNAVAILABLE)) from None
                raise

        return unary_handler(bound, handler.request_deserializer, handler.response_serializer)

    def _seconds_left(self, context: Context) -> float:
        remaining: float | None = context.time_remaining()
        allowed = self.cap if remaining is None else min(remaining, self.cap)
        return max(allowed - self.margin, 0.0)
