"""Metrics over HTTP, asked for badly: nothing goes past the log, and whoever asks well is answered."""

import socket
import urllib.request
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.parse import urlsplit

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from structlog.testing import capture_logs

from authority.telemetry import prometheus
from authority.telemetry.prometheus import served


class Broken(Collector):
    """Fails when it is asked."""

    def collect(self) -> Iterator[Metric]:
        raise RuntimeError("a defect")


def test_whoever_connects_and_says_nothing_more_is_let_go_without_a_word(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(prometheus._Handler, "timeout", 0.05)  # noqa: SLF001 - ten seconds otherwise
    with capture_logs() as logged, served("127.0.0.1:0", CollectorRegistry()) as url:
        place = urlsplit(url)
        assert place.hostname
        assert place.port
        with socket.create_connection((place.hostname, place.port), timeout=30) as connection:
            connection.sendall(b"GET /met")
            assert connection.recv(1) == b""
        with urllib.request.urlopen(url) as answer:  # noqa: S310 - the server's own
            assert answer.status == 200
    assert logged == []
    assert capfd.readouterr().err == ""


def test_a_defect_is_logged_and_shown_to_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    registry = CollectorRegistry()
    registry.register(Broken())
    with capture_logs() as logged, served("127.0.0.1:0", registry) as url:
        with pytest.raises(HTTPError) as caught:
            urllib.request.urlopen(url)  # noqa: S310 - the server's own
        with caught.value as answer:
            assert b"defect" not in answer.read()
    assert [(entry["event"], entry["log_level"]) for entry in logged] == [("scrape_failed", "error")]
    assert capfd.readouterr().err == ""
