"""Metrics as Prometheus is shown them, read back."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from prometheus_client import CollectorRegistry

from authority.telemetry import metrics
from authority.telemetry.exporting import Export, exporting
from authority.telemetry.names import BUILD, COMMITS, CONNECTIONS_MOST, OUTBOX_PENDING, RPC_DURATION
from authority.telemetry.prometheus import served
from authority.telemetry.reading import NothingRead, read
from authority.telemetry.together import served_together


def _build() -> list[metrics.Reading]:
    return [(1, ("1", "3"))]


@pytest.fixture
def url() -> Iterator[str]:
    with exporting(Export(version="1", listen="127.0.0.1:0")) as shown, metrics.read_from(BUILD, _build):
        yield shown


def test_counts_are_added_up_by_the_labels_that_are_asked_for(url: str) -> None:
    metrics.count(COMMITS, "committed", "")
    metrics.count(COMMITS, "refused", "EXPIRED", by=2)
    metrics.count(COMMITS, "refused", "REVOKED", by=3)

    shown = read(url, 5)

    assert shown.total(COMMITS) == 6
    assert shown.total(COMMITS, outcome="refused") == 5
    assert shown.by(COMMITS, "reason", outcome="refused") == {"EXPIRED": 2, "REVOKED": 3}


def test_what_was_measured_is_read_as_its_parts(url: str) -> None:
    metrics.record(RPC_DURATION, 0.004, "CommitValidated", "OK")
    metrics.record(RPC_DURATION, 0.2, "CommitValidated", "OK")

    shown = read(url, 5)

    assert shown.total(RPC_DURATION, "_count", method="CommitValidated") == 2
    assert shown.by(RPC_DURATION, "le", "_bucket")["0.005"] == 1


def test_what_nobody_told_is_not_there(url: str) -> None:
    shown = read(url, 5)

    assert not shown.has(OUTBOX_PENDING)
    assert shown.total(OUTBOX_PENDING) == 0
    assert shown.least(OUTBOX_PENDING) is shown.farthest(OUTBOX_PENDING) is None


def test_several_processes_are_shown_together_and_told_apart(url: str) -> None:
    metrics.count(COMMITS, "committed", "")
    with metrics.read_from(CONNECTIONS_MOST, lambda: [(4, ("authority_commit",))]):
        # Given two workers, and one that has just died
        urls = {"1": url, "2": url, "3": "http://127.0.0.1:1/metrics"}
        with served_together("127.0.0.1:0", lambda: urls) as together:
            shown = read(together, 5)

    assert shown.total(COMMITS) == 2
    assert shown.total(COMMITS, worker="2") == 1
    assert shown.labels_of(BUILD, "worker") == ["1", "2"]
    assert shown.total(CONNECTIONS_MOST, worker="1", power="authority_commit") == 4


def test_what_shows_no_metrics_of_an_authority_is_refused() -> None:
    with served("127.0.0.1:0", CollectorRegistry()) as other, pytest.raises(NothingRead, match="not those of an"):
        read(other, 5)
    with pytest.raises(NothingRead, match="does not answer"):
        read("http://127.0.0.1:1/metrics", 5)


@pytest.mark.parametrize("url", ["127.0.0.1:1", "file:///etc/passwd", "", "http:// /x"])
def test_only_http_is_read(url: str) -> None:
    with pytest.raises(NothingRead, match="is no http:// or https:// URL"):
        read(url, 5)


@contextmanager
def _answering(body: bytes, *, without_end: bool = False) -> Iterator[str]:
    """A server of anything."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(body)
                while without_end:
                    self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("number", ["NaN", "+Inf", "1e300"])
def test_a_number_that_nothing_counts_is_refused(number: str) -> None:
    with _answering(f"{BUILD.in_prometheus} {number}\n".encode()) as other, pytest.raises(NothingRead, match="ValueEr"):
        read(other, 5)


def test_an_answer_without_end_is_given_up() -> None:
    with (
        _answering(b"# on and on\n" * 10_000, without_end=True) as other,
        pytest.raises(NothingRead, match="more than"),
    ):
        read(other, 60)
