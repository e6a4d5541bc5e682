"""What is counted and read, and that nothing is when nobody listens."""

from collections.abc import Iterator

import pytest

from authority.telemetry import metrics
from authority.telemetry.metrics import readings
from authority.telemetry.names import COMMITS, GATHERING_ITEMS, REDIS_FAILURES, STREAMS_OPEN, Metric


class _Heard:
    def __init__(self) -> None:
        self.taken: list[tuple[Metric, float, tuple[str, ...]]] = []

    def record(self, metric: Metric, value: float, labels: tuple[str, ...]) -> None:
        self.taken.append((metric, value, labels))


@pytest.fixture
def heard() -> Iterator[_Heard]:
    recorder = _Heard()
    with metrics.listening(recorder):
        yield recorder


def test_counts_add_up_by_their_labels(heard: _Heard) -> None:
    metrics.count(COMMITS, "committed", "")
    metrics.count(COMMITS, "committed", "")
    metrics.count(COMMITS, "refused", "EXPIRED", by=3)

    assert sorted(readings(COMMITS)) == [(2, ("committed", "")), (3, ("refused", "EXPIRED"))]


def test_a_gauge_goes_up_and_down(heard: _Heard) -> None:
    metrics.count(STREAMS_OPEN)
    metrics.count(STREAMS_OPEN)
    metrics.count(STREAMS_OPEN, by=-1)

    assert readings(STREAMS_OPEN) == [(1, ())]


def test_measurements_are_passed_on(heard: _Heard) -> None:
    metrics.record(GATHERING_ITEMS, 17, "commit")

    assert heard.taken == [(GATHERING_ITEMS, 17, ("commit",))]


def test_sources_are_read_while_they_are_there() -> None:
    kept = [4.0]
    with metrics.read_from(REDIS_FAILURES, lambda: [(kept[0], ())]):
        kept[0] = 5.0
        assert readings(REDIS_FAILURES) == [(5.0, ())]
    assert readings(REDIS_FAILURES) == []


def test_when_nobody_listens_nothing_is_kept() -> None:
    metrics.count(COMMITS, "committed", "")
    metrics.record(GATHERING_ITEMS, 1, "commit")

    assert not metrics.are_heard()
    assert readings(COMMITS) == []


def test_who_listens_next_begins_at_nothing() -> None:
    with metrics.listening(_Heard()):
        metrics.count(COMMITS, "committed", "")
    with metrics.listening(_Heard()):
        assert readings(COMMITS) == []
