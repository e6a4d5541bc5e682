"""Spans, for rooms that tell of their work. Without a listener each of these is one look at a variable.

One listener for the process, as for its log: what a span belongs to is known by the context that runs, and no adapter
has to be given anything for it.
"""

import contextlib
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Protocol, Self, TypeAlias

from authority.telemetry.names import Attribute, Span

Value: TypeAlias = str | int | float | bool


class OpenSpan(Protocol):
    """A span that has begun: the current one for as long as the `with` block lasts, which ends it.

    An exception that leaves the block is told by its class. Nothing here raises.
    """

    def set(self, attribute: Attribute, value: Value) -> None:
        """Says something of it; later sayings win."""
        ...

    def fail(self, kind: str) -> None:
        """Marks it as an error, of this kind. Refusals are none."""
        ...

    def link(self, other: "OpenSpan") -> None:
        """Names another as its cause or its carrier."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Tracer(Protocol):
    """What listens."""

    def below(self, span: Span) -> OpenSpan:
        """Below the current span; nothing when there is none."""
        ...

    def continuing(self, span: Span, traceparent: str, tracestate: str) -> OpenSpan:
        """Below a span elsewhere, by its W3C trace context; a trace of its own when there is none, or a damaged one."""
        ...

    def carrying(self, span: Span, waits: Sequence[OpenSpan]) -> OpenSpan:
        """Below the first wait that is recorded, linked with all of them; nothing when none is."""
        ...

    def current(self) -> OpenSpan:
        """The current span."""
        ...

    def current_traceparent(self) -> str:
        """The current span as a W3C traceparent; '' when there is none."""
        ...


class _NoSpan:
    """Stands for every span that nobody listens to."""

    def set(self, attribute: Attribute, value: Value) -> None:
        """Nothing."""

    def fail(self, kind: str) -> None:
        """Nothing."""

    def link(self, other: OpenSpan) -> None:
        """Nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


NO_SPAN = _NoSpan()
_tracer: Tracer | None = None


@contextlib.contextmanager
def listening(tracer: Tracer) -> Iterator[None]:
    """Has it listen while the block lasts."""
    global _tracer  # noqa: PLW0603 - one for the process, see above
    before, _tracer = _tracer, tracer
    try:
        yield
    finally:
        _tracer = before


def are_heard() -> bool:
    """Whether anybody listens."""
    return _tracer is not None


def below(span: Span) -> OpenSpan:
    """A span below the current one; without one there is nothing to tell."""
    return NO_SPAN if _tracer is None else _tracer.below(span)


def below_of(span: Span, word: str) -> OpenSpan:
    """As `below`, of a span whose name stands for several words."""
    return NO_SPAN if _tracer is None else _tracer.below(span.of(word))


def continuing(span: Span, traceparent: str, tracestate: str = "") -> OpenSpan:
    """A span below one elsewhere, named by its W3C trace context ('' for none)."""
    return NO_SPAN if _tracer is None else _tracer.continuing(span, traceparent, tracestate)


def carrying(span: Span, waits: Sequence[OpenSpan]) -> OpenSpan:
    """The span of one piece of work that several wait for, each in a trace of its own."""
    return NO_SPAN if _tracer is None else _tracer.carrying(span, waits)


def current() -> OpenSpan:
    """The current span."""
    return NO_SPAN if _tracer is None else _tracer.current()


def current_traceparent() -> str:
    """The current span as a W3C traceparent, for what is done later in its name; '' when there is none."""
    return "" if _tracer is None else _tracer.current_traceparent()
