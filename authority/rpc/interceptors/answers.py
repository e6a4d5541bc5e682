"""The outermost interceptor of our own: whatever happens inside, the caller gets an answer out of the error table."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from grpc_status import rpc_status  # type: ignore[import-untyped]

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.rpc.current_call import Context, set_refusal
from authority.rpc.errors import to_status
from authority.rpc.incidents import Incidents
from authority.rpc.interceptors.wrapping import (
    Handler,
    Interceptor,
    MaybeHandler,
    behaviour_of,
    stream_like,
    unary_handler,
)
from authority.rpc.methods import PACKAGE


@dataclass(frozen=True, slots=True)
class Answers(Interceptor):
    """Answers refusals by the error table and everything unforeseen by a fixed sentence and an incident id."""

    incidents: Incidents

    def replace_missing(self, method: str) -> MaybeHandler:
        """NOT_IMPLEMENTED for an RPC of this contract's package; others are answered by gRPC."""
        return unary_handler(_refuse_missing, None, None) if method.startswith(PACKAGE) else None

    def wrap(self, handler: Handler, method: str) -> Handler:
        """A handler that raises nothing but what gRPC itself ends a call with. It serializes, lest that raise later."""
        behaviour, serialize = behaviour_of(handler), handler.response_serializer
        assert serialize is not None

        async def answer(request: object, context: Context) -> bytes:
            work = _serialized(behaviour(request, context), serialize)
            answered = await self.incidents.answer_of(method, work)
            return await _abort(context, answered) if isinstance(answered, Refusal) else answered

        return unary_handler(answer, handler.request_deserializer, None)

    def wrap_stream(self, handler: Handler, method: str) -> Handler:
        """A handler whose stream ends with a status out of the error table."""
        behaviour = behaviour_of(handler)

        async def answer(items: object, context: Context) -> None:
            answered = await self.incidents.answer_of(method, behaviour(items, context))
            if isinstance(answered, Refusal):
                await _abort(context, answered)

        return stream_like(handler, answer)


async def _serialized(work: Awaitable[object], serialize: Callable[[object], bytes]) -> bytes:
    return serialize(await work)


async def _refuse_missing(_request: bytes, context: Context) -> bytes:
    return await _abort(context, Refusal(Reason.NOT_IMPLEMENTED))


async def _abort(context: Context, refusal: Refusal) -> bytes:
    set_refusal(refusal)
    status = rpc_status.to_status(to_status(refusal))
    await context.abort(status.code, status.details, status.trailing_metadata)
