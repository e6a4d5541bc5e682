"""The one list of names: each once, each used, each such that Prometheus and OpenTelemetry take it."""

import re
from pathlib import Path
from typing import Final

import pytest

from authority.telemetry import names
from authority.telemetry.names import ATTRIBUTES, METRICS, SPANS, Attribute, Metric, MetricKind, Span

ROOT: Final = Path(__file__).parents[3]
CODE: Final = [
    path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "authority").rglob("*.py"))
    if path.parent.name != "telemetry" or path.stem not in {"names", "__init__"}
]
BOUNDED: Final = {
    "act", "code", "gathering", "method", "outcome", "power", "purpose", "python", "reason", "state", "version", "why",
}  # fmt: skip
"""Labels whose values are words of the code or of the contract (case G16)."""


def test_every_name_is_in_the_list_and_stands_for_one_thing() -> None:
    listed = {id(one) for one in (*ATTRIBUTES, *SPANS, *METRICS)}
    defined = [one for one in vars(names).values() if isinstance(one, Attribute | Span | Metric)]

    assert {id(one) for one in defined} == listed
    assert len({one.name for one in defined}) == len(defined)


@pytest.mark.parametrize(
    "constant", [name for name, one in vars(names).items() if isinstance(one, Attribute | Span | Metric)]
)
def test_every_name_is_told_by_some_room(constant: str) -> None:
    assert any(re.search(rf"\b{constant}\b", text) for text in CODE)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_g16_no_label_has_more_values_than_the_code_knows(metric: Metric) -> None:
    assert set(metric.labels) <= BOUNDED


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_metrics_are_named_as_both_sides_take_them(metric: Metric) -> None:
    assert re.fullmatch(r"authority(\.[a-z]+)+", metric.name)
    assert re.fullmatch(r"[a-z_]+", metric.in_prometheus)
    # Prometheus would append a unit of which the name here knows nothing.
    assert metric.unit in {"", "s"}
    assert bool(metric.buckets) is (metric.kind is MetricKind.HISTOGRAM)
    assert list(metric.buckets) == sorted(set(metric.buckets))
