"""A collector of OpenTelemetry's protocol, as operators run one: keeps what processes of the service send it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from grpc import aio
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1 import trace_pb2

from tests.installation.processes import eventually

QUICKLY = {"OTEL_BSP_SCHEDULE_DELAY": "50", "OTEL_METRIC_EXPORT_INTERVAL": "200"}
"""Has a process send what it has at once."""


@dataclass(frozen=True, slots=True)
class CollectedSpan:
    """One span as it came. Ids are hex."""

    name: str
    kind: str
    trace_id: str
    span_id: str
    parent_id: str
    links: frozenset[tuple[str, str]]
    """Trace and span ids."""
    attributes: Mapping[str, str | int | bool]
    is_error: bool
    everything: str
    """All there is in it, as text."""


@dataclass(slots=True)
class Collector:
    """What came so far. `target` is where to send more."""

    target: str = ""
    spans: list[CollectedSpan] = field(default_factory=list)
    metrics: set[str] = field(default_factory=set)

    async def trace(self, trace_id: str, *names: str) -> list[CollectedSpan]:
        """The spans of a trace, once those of these names are among them."""

        def found() -> list[CollectedSpan]:
            return [span for span in self.spans if span.trace_id == trace_id]

        await eventually(lambda: {*names} <= {span.name for span in found()}, f"spans {names} of {trace_id}")
        return found()

    def take_spans(self, request: Any) -> None:
        """Keeps the spans of one request."""
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                self.spans.extend(map(_span, scope.spans))

    def take_metrics(self, request: Any) -> None:
        """Keeps the names of metrics of one request."""
        for resource in request.resource_metrics:
            for scope in resource.scope_metrics:
                self.metrics.update(metric.name for metric in scope.metrics)


class _Traces(trace_service_pb2_grpc.TraceServiceServicer):
    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    async def Export(self, request: Any, context: Any) -> Any:  # noqa: N802 - the contract names it
        """Takes spans."""
        self._collector.take_spans(request)
        return trace_service_pb2.ExportTraceServiceResponse()


class _Metrics(metrics_service_pb2_grpc.MetricsServiceServicer):
    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    async def Export(self, request: Any, context: Any) -> Any:  # noqa: N802 - as above
        """Takes metrics."""
        self._collector.take_metrics(request)
        return metrics_service_pb2.ExportMetricsServiceResponse()


@asynccontextmanager
async def collecting() -> AsyncIterator[Collector]:
    """A collector that takes what is sent while the block lasts."""
    collector, server = Collector(), aio.server()
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(_Traces(collector), server)  # type: ignore[no-untyped-call] # generated
    metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(_Metrics(collector), server)  # type: ignore[no-untyped-call] # likewise
    collector.target = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield collector
    finally:
        await server.stop(None)


def _span(span: trace_pb2.Span) -> CollectedSpan:
    return CollectedSpan(
        name=span.name,
        kind=trace_pb2.Span.SpanKind.Name(span.kind),
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        links=frozenset((link.trace_id.hex(), link.span_id.hex()) for link in span.links),
        attributes={entry.key: _value(entry) for entry in span.attributes},
        is_error=span.status.code == trace_pb2.Status.STATUS_CODE_ERROR,
        everything=str(span),
    )


def _value(entry: KeyValue) -> str | int | bool:
    value: str | int | bool = getattr(entry.value, entry.value.WhichOneof("value") or "string_value")
    return value
