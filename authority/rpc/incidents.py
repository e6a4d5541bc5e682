"""What went wrong inside goes to the log under an id; the caller gets only the id."""

import traceback
from collections.abc import Iterator

import structlog

from authority.usecases.ports import Contention, DependencyUnavailable

_log = structlog.get_logger()


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
