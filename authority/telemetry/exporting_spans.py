"""Sends spans to a collector, by OTLP over gRPC."""

import contextlib
from collections.abc import Iterator

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from authority.telemetry import spans
from authority.telemetry.identity import SCOPE, end_in_time, resource_of
from authority.telemetry.tracing import Tracing


@contextlib.contextmanager
def exporting_spans(collector: str, version: str) -> Iterator[None]:
    """Exports spans while the block lasts, in batches, from a thread of its own; what the collector misses is lost."""
    provider = TracerProvider(resource=resource_of(version), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(collector)))
    try:
        with spans.listening(Tracing(provider.get_tracer(SCOPE, version))):
            yield
    finally:
        end_in_time(provider.shutdown)
