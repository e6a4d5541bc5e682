"""What went wrong inside goes to the log under an id; the caller gets only the id."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import structlog
from grpc import aio

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.rpc.refused import Refused
from authority.telemetry import spans
from authority.telemetry.names import INCIDENT
from authority.usecases.ports import Contention, DependencyUnavailable, Overloaded

_log = structlog.get_logger()

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Incidents:
    """Turns everything unforeseen into a refusal, whose incident id stands in the log beside what happened."""

    new_id: Callable[[], str]

    async def answer_of(self, method: str, work: Awaitable[Value]) -> Value | Refusal:
        """What the work answers with, or the refusal that it ended with.

        It raises nothing but what gRPC itself ends a call with. gRPC by itself sends the text of exceptions to the
        caller (case F01), and never answers a call inside which a CancelledError was raised (case F02).
        """
        try:
            return await work
        except Refused as refused:
            return refused.refusal
        except (aio.AbortError, aio.InternalError):
            # A standard service ended the call by itself, or there is nobody left to write to.
            raise
        except asyncio.CancelledError as fault:
            if _is_cancelled():
                raise
            return self._refusal(method, fault)
        except Exception as fault:  # noqa: BLE001 - nothing unforeseen may reach the caller
            return self._refusal(method, fault)

    def _refusal(self, method: str, fault: BaseException) -> Refusal:
        incident_id = self.new_id()
        log_incident(incident_id, method, fault)
        spans.current().set(INCIDENT, incident_id)
        return Refusal(_reason_of(fault), {"incident_id": incident_id})


def _reason_of(fault: BaseException) -> Reason:
    """What the caller may know of a fault: whether the same call may be made again."""
    match fault:
        case Overloaded():
            return Reason.OVERLOADED
        # Not this call was cancelled but something that it waited for: a pool that closes, a task that was given up.
        case DependencyUnavailable() | asyncio.CancelledError():
            return Reason.DEPENDENCY_UNAVAILABLE
        case Contention():
            return Reason.CONTENTION
        case _:
            return Reason.INTERNAL


def _is_cancelled() -> bool:
    """Whether this very task was cancelled: its caller went away, or its deadline passed, or the server stops."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def log_incident(incident_id: str, method: str, fault: BaseException) -> None:
    """Writes the kinds of the fault and of its causes, and where each was raised.

    Messages are written only of faults of the operating system and of this service's own: a driver's may quote the
    values it was given, and content, statements and keys never enter logs (semantics §9).
    """
    if isinstance(fault, (DependencyUnavailable, Contention)):
        # Foreseen, and many a second while a server is away: where it was raised says nothing new.
        brief = [{name: told[name] for name in ("kind", "message")} for told in _describe(fault)]
        _log.warning("rpc_unavailable", incident_id=incident_id, rpc_method=method, faults=brief)
        return
    _log.error("rpc_failed", incident_id=incident_id, rpc_method=method, faults=[*_describe(fault)])


def _describe(fault: BaseException | None) -> Iterator[dict[str, object]]:
    seen: set[int] = set()
    while fault is not None and id(fault) not in seen:
        seen.add(id(fault))
        frames = traceback.extract_tb(fault.__traceback__)
        yield {
            "kind": f"{type(fault).__module__}.{type(fault).__qualname__}",
            "message": str(fault) if _speaks_safely(fault) else "",
            "raised_at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
        }
        fault = fault.__cause__ or (None if fault.__suppress_context__ else fault.__context__)


def _speaks_safely(fault: BaseException) -> bool:
    return isinstance(fault, OSError) or type(fault).__module__.startswith("authority.")
