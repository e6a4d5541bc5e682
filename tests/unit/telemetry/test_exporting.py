"""Where spans and metrics go, as settings and OpenTelemetry's own variables say; nowhere costs nothing."""

import socket
import subprocess
import sys
import urllib.request
from typing import Final

import pytest

from authority.telemetry import metrics, spans
from authority.telemetry.exporting import CannotExport, Export, exporting
from authority.telemetry.names import COMMITS, RPC_DURATION

_IMPORTED: Final = """
import sys, {}
ours = {{name.rpartition(".")[2] for name in sys.modules if name.startswith("authority.telemetry.")}} - {{"reading"}}
others = [name for name in sys.modules if name.startswith(("prometheus_client", "opentelemetry.exporter"))]
print(sorted(ours), others)
"""


def _shown(url: str) -> str:
    with urllib.request.urlopen(url) as answer:  # noqa: S310 - our own
        text: str = answer.read().decode()
    return text


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_SDK_DISABLED", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("module", ["authority.bootstrap.service", "authority.cli.serve"])
def test_nothing_is_imported_before_it_is_asked_for(module: str) -> None:
    found = subprocess.run([sys.executable, "-c", _IMPORTED.format(module)], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "['exporting', 'metrics', 'names', 'spans'] []"


def test_nothing_listens_when_nothing_is_set() -> None:
    with exporting(Export(version="1")) as url:
        assert (url, spans.are_heard(), metrics.are_heard()) == ("", False, False)


def test_prometheus_is_shown_counts_and_measurements() -> None:
    with exporting(Export(version="1", listen="127.0.0.1:0")) as url:
        metrics.count(COMMITS, "refused", "EXPIRED")
        metrics.record(RPC_DURATION, 0.004, "CommitValidated", "OK")
        text = _shown(url)

    assert 'authority_commits_total{outcome="refused",reason="EXPIRED"} 1.0' in text
    assert 'authority_rpc_duration_seconds_bucket{code="OK",le="0.005",method="CommitValidated"} 1.0' in text
    assert 'authority_rpc_duration_seconds_bucket{code="OK",le="0.002",method="CommitValidated"} 0.0' in text
    assert 'service_name="capability-authority"' in text


def test_what_the_standard_variables_say_of_this_process_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "memory-authority-7")
    with exporting(Export(version="1", listen="127.0.0.1:0")) as url:
        metrics.count(COMMITS, "committed", "")
        assert 'service_name="memory-authority-7"' in _shown(url)


def test_an_address_that_is_taken_is_refused_with_the_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(CannotExport, match=r"AUTHORITY_METRICS_LISTEN: cannot listen on .*: choose another"):
            exporting(Export(version="1", listen=listen)).__enter__()
    assert not metrics.are_heard()


@pytest.mark.parametrize(
    "variables",
    [
        {"OTEL_SDK_DISABLED": "true"},
        {"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"},
    ],
)
def test_the_standard_switches_turn_a_collector_off(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with exporting(Export(version="1", otlp="http://127.0.0.1:1")):
        assert not spans.are_heard()
        assert not metrics.are_heard()


def test_a_protocol_that_is_not_spoken_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
    with pytest.raises(CannotExport, match="is http/protobuf, and this service exports by gRPC alone: set it to grpc"):
        exporting(Export(version="1")).__enter__()
