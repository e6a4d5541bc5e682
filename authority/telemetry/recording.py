"""The instruments of OpenTelemetry's SDK, one for each metric in the list."""

from functools import partial
from typing import TYPE_CHECKING

from opentelemetry.metrics import CallbackOptions, Histogram, Meter, Observation

from authority.telemetry.metrics import readings
from authority.telemetry.names import METRICS, Metric, MetricKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    Callback: TypeAlias = Callable[[CallbackOptions], Iterable[Observation]]


class Recording:
    """Implements `metrics.Recorder`. Counts and gauges are read when somebody asks, histograms kept by the SDK."""

    def __init__(self, meter: Meter) -> None:
        self._histograms: dict[str, Histogram] = {}
        for metric in METRICS:
            self._make(meter, metric)

    def record(self, metric: Metric, value: float, labels: tuple[str, ...]) -> None:
        """See `metrics.Recorder`."""
        self._histograms[metric.name].record(value, dict(zip(metric.labels, labels, strict=True)))

    def _make(self, meter: Meter, metric: Metric) -> None:
        callback: Callback = partial(_observed, metric)
        match metric.kind:
            case MetricKind.COUNTER:
                meter.create_observable_counter(metric.name, [callback], metric.unit, metric.meaning)
            case MetricKind.GAUGE:
                meter.create_observable_gauge(metric.name, [callback], metric.unit, metric.meaning)
            case MetricKind.HISTOGRAM:
                self._histograms[metric.name] = meter.create_histogram(
                    metric.name, metric.unit, metric.meaning, explicit_bucket_boundaries_advisory=metric.buckets
                )


def _observed(metric: Metric, _: CallbackOptions) -> list[Observation]:
    return [Observation(value, dict(zip(metric.labels, labels, strict=True))) for value, labels in readings(metric)]
