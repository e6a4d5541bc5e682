"""Metrics, for rooms that count and measure. Without a listener each of these is one look at a variable.

Counts are kept here as plain numbers, which cost a fraction of what the library's own instruments do on the way of a
call; it reads them when somebody asks. As with spans, there is one listener for the process.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeAlias

from authority.telemetry.names import Metric

Reading: TypeAlias = tuple[float, tuple[str, ...]]
"""A value and its labels, in the order in which the metric lists them."""

Source: TypeAlias = Callable[[], Iterable[Reading]]
"""Reads values at the moment. Is called by another thread: it may read what the event loop's thread writes, and wait
for nothing."""


class Recorder(Protocol):
    """What listens to measurements."""

    def record(self, metric: Metric, value: float, labels: tuple[str, ...]) -> None:
        """Takes one measurement of a histogram."""
        ...


_recorder: Recorder | None = None
_counts: dict[str, Counter[tuple[str, ...]]] = {}
_sources: dict[str, tuple[Source, ...]] = {}


@contextlib.contextmanager
def listening(recorder: Recorder) -> Iterator[None]:
    """Has it listen while the block lasts; counts begin at nothing."""
    global _recorder  # noqa: PLW0603 - one for the process, see above
    before, _recorder = _recorder, recorder
    _counts.clear()
    try:
        yield
    finally:
        _recorder = before


def are_heard() -> bool:
    """Whether anybody listens."""
    return _recorder is not None


def count(metric: Metric, *labels: str, by: int = 1) -> None:
    """Adds to a counter, or moves a gauge up or down."""
    if _recorder is not None:
        _counts.setdefault(metric.name, Counter())[labels] += by


def record(metric: Metric, value: float, *labels: str) -> None:
    """Adds a measurement to a histogram."""
    if _recorder is not None:
        _recorder.record(metric, value, labels)


@contextlib.contextmanager
def read_from(metric: Metric, source: Source) -> Iterator[None]:
    """Has a gauge, or a counter that somebody keeps already, read from the source while the block lasts."""
    _sources[metric.name] = (*_sources.get(metric.name, ()), source)
    try:
        yield
    finally:
        left = list(_sources[metric.name])
        left.remove(source)
        _sources[metric.name] = tuple(left)


def readings(metric: Metric) -> list[Reading]:
    """What a counter or gauge stands at now."""
    found: list[Reading] = [(value, labels) for labels, value in _counts.get(metric.name, Counter()).copy().items()]
    for source in _sources.get(metric.name, ()):
        found.extend(source())
    return found
