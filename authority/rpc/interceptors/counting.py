"""Counts refused calls of known callers; who is not known is told of by metrics alone (semantics §9, case G16)."""

from dataclasses import dataclass

from grpc import aio

from authority.rpc.current_call import Context, known_caller, known_refusal
from authority.rpc.interceptors.wrapping import (
    Behaviour,
    Handler,
    Interceptor,
    behaviour_of,
    stream_like,
    unary_handler,
)
from authority.usecases.tally import Tally


@dataclass(frozen=True, slots=True)
class Counting(Interceptor):
    """Put it around `Answers`, whose refusals it counts; it changes nothing of them."""

    tally: Tally

    def wrap(self, handler: Handler, method: str) -> Handler:  # noqa: ARG002 - every RPC is counted alike
        """A handler whose refusals are counted."""
        counted = self._counted(behaviour_of(handler))
        return unary_handler(counted, handler.request_deserializer, handler.response_serializer)

    def wrap_stream(self, handler: Handler, method: str) -> Handler:  # noqa: ARG002 - as above
        """A handler for streams that are refused or end so."""
        return stream_like(handler, self._counted(behaviour_of(handler)))

    def _counted(self, behaviour: Behaviour) -> Behaviour:
        async def count(request: object, context: Context) -> object:
            try:
                return await behaviour(request, context)
            except aio.AbortError:
                caller, refusal = known_caller(), known_refusal()
                if caller and refusal:
                    self.tally.count(caller, refusal.reason.name)
                raise

        return count
