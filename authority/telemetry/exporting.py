"""Makes what listens to spans and metrics, as the settings say, and carries it out of the process.

OpenTelemetry's own variables are honoured wherever no setting of ours says otherwise: OTEL_EXPORTER_OTLP_ENDPOINT,
_HEADERS, _CERTIFICATE and _TIMEOUT, those for one signal, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES,
OTEL_TRACES_SAMPLER, OTEL_BSP_…, OTEL_METRIC_EXPORT_INTERVAL, OTEL_TRACES_EXPORTER=none, OTEL_METRICS_EXPORTER=none and
OTEL_SDK_DISABLED.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass


class CannotExport(Exception):
    """A variable or a setting asks for what cannot be had. The message names it and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """Where spans and metrics go. `otlp` is the URL of a collector that speaks gRPC; `listen` where Prometheus asks."""

    version: str
    otlp: str | None = None
    listen: str | None = None


@contextlib.contextmanager
def exporting(export: Export) -> Iterator[str]:
    """Exports while the block lasts, and answers with the URL for Prometheus, '' when there is none.

    When nothing is asked for, nothing is imported. Raises CannotExport.
    """
    traces, measured = _collector(export, "TRACES"), _collector(export, "METRICS")
    with contextlib.ExitStack() as stack:
        if traces:
            from authority.telemetry.exporting_spans import exporting_spans  # noqa: PLC0415 - see above

            stack.enter_context(exporting_spans(traces, export.version))
        if not (measured or export.listen):
            yield ""
            return
        from authority.telemetry.exporting_metrics import exporting_metrics  # noqa: PLC0415 - see above

        yield stack.enter_context(exporting_metrics(measured, export.listen, export.version))


def _collector(export: Export, signal: str) -> str | None:
    """The collector of a signal, if it is exported."""
    if _variable("OTEL_SDK_DISABLED").lower() == "true" or _variable(f"OTEL_{signal}_EXPORTER") == "none":
        return None
    own = _variable(f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")
    endpoint = export.otlp or own or _variable("OTEL_EXPORTER_OTLP_ENDPOINT")
    protocol = _variable(f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL") or _variable("OTEL_EXPORTER_OTLP_PROTOCOL") or "grpc"
    if endpoint and protocol != "grpc":
        raise CannotExport(
            f"OTEL_EXPORTER_OTLP_PROTOCOL is {protocol}, and this service exports by gRPC alone: set it to grpc and"
            f" name the collector's gRPC port, or set OTEL_{signal}_EXPORTER=none"
        )
    return endpoint or None


def _variable(name: str) -> str:
    return os.environ.get(name, "").strip()
