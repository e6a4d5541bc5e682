"""`authority top`: what it reckons from two looks, and how it is shown."""

from collections.abc import Iterator
from typing import Any

import pytest

from authority.cli.top import lines
from authority.cli.top_figures import Counted, Figures, figures, quantile
from authority.telemetry import metrics
from authority.telemetry.exporting import Export, exporting
from authority.telemetry.names import (
    BUILD,
    CLOCK_DIFFERENCE,
    COMMITS,
    DELIVERIES,
    GATHERING_ITEMS,
    OUTBOX_AGE,
    OUTBOX_PENDING,
    REDIS_AVAILABLE,
    REFUSALS,
    RPC_DURATION,
)
from authority.telemetry.reading import Shown, read
from tests.unit.cli.running import ran

NOTHING = Shown({})


def _build() -> list[metrics.Reading]:
    return [(1, ("1.2.3", "3"))]


@pytest.fixture
def url() -> Iterator[str]:
    """An authority that shows metrics."""
    with exporting(Export(version="1", listen="127.0.0.1:0")) as shown, metrics.read_from(BUILD, _build):
        yield shown


def look(url: str) -> Shown:
    return read(url, 5)


def test_rates_are_of_the_time_between_the_looks_and_totals_of_all(url: str) -> None:
    metrics.count(COMMITS, "committed", "", by=10)
    before = look(url)
    metrics.count(COMMITS, "committed", "", by=6)
    metrics.count(COMMITS, "replayed", "", by=2)

    seen = figures(before, look(url), 2.0)

    assert seen.commits["committed"] == Counted(16, 3.0)
    assert seen.commits["replayed"] == Counted(2, 1.0)
    assert seen.commits["conflict"] == Counted(0, 0.0)
    assert (seen.versions, seen.workers) == (("1.2.3",), 1)


def test_a_process_that_began_anew_counts_from_nothing(url: str) -> None:
    metrics.count(COMMITS, "committed", "", by=3)
    before = Shown({COMMITS.in_prometheus: (({"outcome": "committed"}, 1_000.0),)})

    assert figures(before, look(url), 1.0).commits["committed"] == Counted(3, 3.0)


def test_refusals_come_by_reason_and_the_most_frequent_first(url: str) -> None:
    metrics.count(REFUSALS, "CommitValidated", "EXPIRED")
    metrics.count(REFUSALS, "CommitValidated", "REVOKED", by=2)
    metrics.count(REFUSALS, "BatchCommitValidated", "EXPIRED", by=4)

    assert [*figures(NOTHING, look(url), 1.0).refusals] == ["EXPIRED", "REVOKED"]


def test_latency_and_gathering_are_of_the_last_interval_or_else_of_all(url: str) -> None:
    metrics.record(RPC_DURATION, 9.0, "CommitValidated", "OK")
    metrics.record(GATHERING_ITEMS, 100, "commit")
    before = look(url)
    assert (figures(before, look(url), 1.0).p50_ms or 0) > 5_000
    assert figures(before, look(url), 1.0).plans_per_call == 100

    metrics.record(RPC_DURATION, 0.0015, "CommitValidated", "OK")
    metrics.record(GATHERING_ITEMS, 4, "commit")
    seen = figures(before, look(url), 1.0)
    assert seen.p50_ms == pytest.approx(1.5)
    assert seen.plans_per_call == 4


def test_what_nobody_told_is_not_made_up(url: str) -> None:
    seen = figures(look(url), look(url), 1.0)

    unknown = (seen.p50_ms, seen.plans_per_call, seen.redis_used, seen.pending, seen.delivered, seen.clock_ms)
    assert unknown == (None,) * 6
    shown = "\n".join(lines(url, seen))
    assert "no relay is looked at" in shown
    assert "p50 unknown" in shown


def test_the_screen_says_what_is_wrong(url: str) -> None:
    told = {REDIS_AVAILABLE: 0, OUTBOX_PENDING: 7, OUTBOX_AGE: 61.0, CLOCK_DIFFERENCE: -0.25}
    with pytest.MonkeyPatch.context() as patch:
        sources: dict[str, Any] = {metric.name: (lambda v=value: [(v, ())],) for metric, value in told.items()}
        patch.setattr(metrics, "_sources", {**metrics._sources, **sources})  # noqa: SLF001 - as four rooms would tell
        metrics.count(DELIVERIES, "delivered", by=3)
        shown = "\n".join(lines(url, figures(NOTHING, look(url), 1.0)))

    assert "AWAY: commits go on, reads are unavailable" in shown
    assert "7 pending, the oldest for 61 s; 0 parked; 3.0 delivered a second" in shown
    assert "our clock is 250 ms behind its" in shown


def test_nothing_that_is_read_steers_the_terminal(url: str) -> None:
    metrics.count(REFUSALS, "GetKeySet", "\x1b[2J\u202e")

    shown = list(lines(url, figures(NOTHING, look(url), 1.0)))

    assert r"\x1b[2J\u202e 1" in shown[-1]
    assert all(line.isprintable() for line in shown)


@pytest.mark.parametrize(
    ("buckets", "part", "expected"),
    [
        ({}, 0.5, None),
        ({0.1: 0, float("inf"): 0}, 0.5, None),
        ({0.1: 10, 0.2: 10, float("inf"): 10}, 0.5, 0.05),
        ({0.1: 0, 0.2: 10, float("inf"): 10}, 0.5, 0.15),
        ({0.1: 5, 0.2: 10, float("inf"): 10}, 0.99, 0.198),
        ({0.1: 0, 0.2: 0, float("inf"): 10}, 0.5, 0.2),
    ],
)
def test_quantiles_are_reckoned_as_prometheus_does(
    buckets: dict[float, float], part: float, expected: float | None
) -> None:
    assert quantile(buckets, part) == (None if expected is None else pytest.approx(expected))


def test_once_as_json_is_one_document(capsys: pytest.CaptureFixture[str], url: str) -> None:
    metrics.count(COMMITS, "committed", "", by=2)

    done = ran(capsys, "top", "--metrics", url, "--once", "--interval", "0.1", "--json")

    assert done.code == 0
    assert done.document["commits"]["committed"] == {"total": 2, "per_s": 0.0}
    assert {*done.document} == {*Figures.__dataclass_fields__}


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--metrics", "http://127.0.0.1:1/metrics"], 1, "does not answer (Connection refused): is the authority runn"),
        (["--metrics", "127.0.0.1:1"], 2, "'--metrics': '127.0.0.1:1' is no http:// or https:// URL: write http://"),
        (["--data", "nowhere"], 1, "no embedded authority is served from nowhere: start one by `authority serve`"),
    ],
)
def test_where_nothing_is_shown_it_says_what_to_do(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, sentence: str
) -> None:
    done = ran(capsys, "top", "--once", *arguments)

    assert done.code == code
    assert sentence in done.err
