"""The outermost interceptor of our own: whatever happens inside, the caller gets an answer out of the error table."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from grpc import aio
from grpc_status import rpc_status  # type: ignore[import-untyped]

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.rpc.current_call import Context
from authority.rpc.errors import to_status
from authority.rpc.incidents import log_incident
from authority.rpc.interceptors.unary import (
    Handler,
    MaybeHandler,
    UnaryInterceptor,
    behaviour_of,
    unary_handler,
)
from authority.rpc.methods import PACKAGE
from authority.rpc.refused import Refused
from authority.usecases.ports import Contention, DependencyUnavailable


@dataclass(frozen=True, slots=True)
class Answers(UnaryInterceptor):
    """Answers refusals by the error table and everything unforeseen by a fixed sentence and an incident id.

    gRPC by itself sends the text of exceptions to the caller (case F01), and never answers a call inside which a
    CancelledError was raised (case F02).
    """

    new_incident_id: Callable[[], str]

    def replace_missing(self, method: str) -> MaybeHandler:
        """NOT_IMPLEMENTED for an RPC of this contract's package; others are answered by gRPC."""
        return unary_handler(_refuse_missing, None, None) if method.startswith(PACKAGE) else None

    def wrap(self, handler: Handler, method: str) -> Handler:
        """A handler that raises nothing but what gRPC itself ends a call with. It serializes, lest that raise later."""
        behaviour, serialize = behaviour_of(handler), handler.response_serializer
        assert serialize is not None

        async def answer(request: object, context: Context) -> bytes:
            try:
                return serialize(await behaviour(request, context))
            except Refused as refused:
                refusal = refused.refusal
            except aio.AbortError:
                # A standard service ended the call by itself.
                raise
            except asyncio.CancelledError as fault:
                if _is_cancelled():
                    raise
                refusal = self._incident(method, fault)
            except Exception as fault:  # noqa: BLE001 - nothing unforeseen may reach the caller
                refusal = self._incident(method, fault)
            return await _abort(context, refusal)

        return unary_handler(answer, handler.request_deserializer, None)

    def _incident(self, method: str, fault: BaseException) -> Refusal:
        incident_id = self.new_incident_id()
        log_incident(incident_id, method, fault)
        return Refusal(_reason_of(fault), {"incident_id": incident_id})


def _reason_of(fault: BaseException) -> Reason:
    """What the caller may know of a fault: whether the same call may be made again."""
    match fault:
        # Not this call was cancelled but something that it waited for: a pool that closes, a task that was given up.
        case DependencyUnavailable() | asyncio.CancelledError():
            return Reason.DEPENDENCY_UNAVAILABLE
        case Contention():
            return Reason.CONTENTION
        case _:
            return Reason.INTERNAL


def _is_cancelled() -> bool:
    """Whether gRPC cancelled this very call: its caller went away, or its deadline passed, or the server stops."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _refuse_missing(_request: bytes, context: Context) -> bytes:
    return await _abort(context, Refusal(Reason.NOT_IMPLEMENTED))


async def _abort(context: Context, refusal: Refusal) -> bytes:
    status = rpc_status.to_status(to_status(refusal))
    await context.abort(status.code, status.details, status.trailing_metadata)
