"""W3C trace context of outgoing calls. OpenTelemetry is used when it is there and never asked for."""

import importlib
import re
from collections.abc import Callable
from functools import cache
from typing import Final, TypeAlias

__all__ = ["injected_entries", "trace_entries"]

Inject: TypeAlias = Callable[[dict[str, str]], None]
"""Writes the current span's context into a carrier, as `opentelemetry.propagate.inject` does."""

_NAMES: Final = ("traceparent", "tracestate")
_TRACEPARENT: Final = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


def trace_entries(traceparent: str | None) -> tuple[tuple[str, str], ...]:
    """The metadata entries that carry the caller's trace on.

    `traceparent` is used when given; otherwise the current OpenTelemetry span, when there is one. Raises `ValueError`
    for a `traceparent` that is not of the form W3C Trace Context gives it.
    """
    if traceparent is not None:
        if _TRACEPARENT.fullmatch(traceparent) is None:
            raise ValueError(f"not a traceparent: {traceparent!r}")
        return (("traceparent", traceparent),)
    inject = _opentelemetry()
    return () if inject is None else injected_entries(inject)


def injected_entries(inject: Inject) -> tuple[tuple[str, str], ...]:
    """What `inject` writes, as far as it is trace context: baggage may hold anything and stays here."""
    carrier: dict[str, str] = {}
    inject(carrier)
    return tuple((name, carrier[name]) for name in _NAMES if name in carrier)


@cache
def _opentelemetry() -> Inject | None:
    try:
        inject: Inject = importlib.import_module("opentelemetry.propagate").inject
    except ImportError:
        return None
    return inject
