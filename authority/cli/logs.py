"""Logs go to standard error, in the form that the operator chose; answers never mix with them."""

import logging
import os
import sys

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from authority.config import Settings
from authority.rpc.current_call import current_trace_id
from authority.telemetry.spans import current_traceparent


def log_as(settings: Settings) -> None:
    """Sends our logs and those of the libraries to standard error, by the settings `log_format` and `log_level`.

    Where several workers write there, each entry names its process.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _name_trace,
    ]
    if settings.workers > 1:
        shared.append(_name_process)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.processors.StackInfoRenderer(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_rendering(settings.log_format)],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())


def _name_trace(_logger: WrappedLogger, _method: str, entry: EventDict) -> EventDict:
    """What is said within a call names the trace that it is part of, and our span in it when there is one."""
    if own := current_traceparent():
        _, trace_id, span_id, _ = own.split("-")
        return {**entry, "trace_id": trace_id, "span_id": span_id}
    return {**entry, "trace_id": trace_id} if (trace_id := current_trace_id()) else entry


def _name_process(_logger: WrappedLogger, _method: str, entry: EventDict) -> EventDict:
    return {**entry, "pid": os.getpid()}


def _rendering(log_format: str) -> list[Processor]:
    if log_format == "json":
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    # Not the one that shows the values of variables: content, statements and keys never enter logs (semantics §9).
    formatter = structlog.dev.plain_traceback
    return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=formatter)]
