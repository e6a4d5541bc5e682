"""Shows metrics to Prometheus, sends them to a collector by OTLP over gRPC, or both."""

import contextlib
from collections.abc import Iterator

from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from prometheus_client import CollectorRegistry

from authority.telemetry import metrics
from authority.telemetry.identity import SCOPE, end_in_time, resource_of
from authority.telemetry.prometheus import served
from authority.telemetry.recording import Recording


@contextlib.contextmanager
def exporting_metrics(collector: str | None, listen: str | None, version: str) -> Iterator[str]:
    """Exports metrics while the block lasts, and answers with the URL for Prometheus, '' when there is none.

    Raises CannotExport.
    """
    registry = CollectorRegistry(auto_describe=False)
    readers: list[MetricReader] = []
    if collector:
        readers.append(PeriodicExportingMetricReader(OTLPMetricExporter(collector)))
    if listen:
        readers.append(PrometheusMetricReader(scope_info_enabled=False, registry=registry))
    provider = MeterProvider(readers, resource_of(version), shutdown_on_exit=False)
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(metrics.listening(Recording(provider.get_meter(SCOPE, version))))
            yield stack.enter_context(served(listen, registry)) if listen else ""
    finally:
        end_in_time(provider.shutdown)
