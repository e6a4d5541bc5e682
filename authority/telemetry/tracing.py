"""The tracer that OpenTelemetry's SDK gives, behind the few things that the rooms say of their spans."""

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from authority.telemetry import spans
from authority.telemetry.names import ENDED_BY, ERROR_KIND, ITEMS, Attribute, Span

if TYPE_CHECKING:
    from contextvars import Token

    from authority.telemetry.spans import OpenSpan, Value

_W3C: Final = TraceContextTextMapPropagator()
_MOST_LINKS: Final = 64
"""Of a gathered call with the waits that it carries; each wait is linked with its calls in any case."""


class _Span:
    """Implements `spans.OpenSpan`."""

    __slots__ = ("_token", "inner")

    def __init__(self, inner: trace.Span) -> None:
        self.inner = inner
        self._token: Token[Context] | None = None

    def set(self, attribute: Attribute, value: "Value") -> None:
        self.inner.set_attribute(attribute.name, value)

    def fail(self, kind: str) -> None:
        # The status has no description: that would be the text of an exception.
        self.inner.set_status(trace.StatusCode.ERROR)
        self.inner.set_attribute(ERROR_KIND.name, kind)

    def link(self, other: "OpenSpan") -> None:
        if isinstance(other, _Span):
            self.inner.add_link(other.inner.get_span_context())

    def __enter__(self) -> Self:
        self._token = contexts.attach(trace.set_span_in_context(self.inner))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self.inner.set_attribute(ENDED_BY.name, kind.__qualname__)
        if self._token is not None:
            contexts.detach(self._token)
        self.inner.end()


class Tracing:
    """Implements `spans.Tracer`. Exceptions are never recorded with their texts, which may quote anything."""

    def __init__(self, tracer: trace.Tracer) -> None:
        self._tracer = tracer

    def below(self, span: Span) -> "OpenSpan":
        """See `spans.Tracer`."""
        if not trace.get_current_span().is_recording():
            return spans.NO_SPAN
        return self._begin(span, None)

    def continuing(self, span: Span, traceparent: str, tracestate: str) -> "OpenSpan":
        """See `spans.Tracer`."""
        return self._begin(span, _W3C.extract({"traceparent": traceparent, "tracestate": tracestate}, Context()))

    def carrying(self, span: Span, waits: "Sequence[OpenSpan]") -> "OpenSpan":
        """See `spans.Tracer`."""
        recorded = [wait for wait in waits if isinstance(wait, _Span) and wait.inner.is_recording()]
        if not recorded:
            return spans.NO_SPAN
        parent = trace.set_span_in_context(recorded[0].inner, Context())
        links = [trace.Link(wait.inner.get_span_context()) for wait in recorded[:_MOST_LINKS]]
        begun = self._begin(span, parent, links)
        begun.set(ITEMS, len(waits))
        for wait in recorded:
            wait.link(begun)
        return begun

    def current(self) -> "OpenSpan":
        """See `spans.Tracer`."""
        return _Span(trace.get_current_span())

    def current_traceparent(self) -> str:
        """See `spans.Tracer`."""
        carrier: dict[str, str] = {}
        _W3C.inject(carrier)
        return carrier.get("traceparent", "")

    def _begin(self, span: Span, parent: Context | None, links: Sequence[trace.Link] = ()) -> _Span:
        return _Span(
            self._tracer.start_span(
                span.name,
                parent,
                trace.SpanKind[span.kind.value],
                links=links,
                record_exception=False,
                set_status_on_exception=False,
            )
        )
