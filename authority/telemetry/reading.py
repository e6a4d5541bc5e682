"""Reads metrics as they are shown to Prometheus: what a process of the authority, or its parent, says of itself."""

import re
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from typing import Final

from authority.telemetry.names import BUILD, Metric

_URL: Final = re.compile(r"https?://[^\s/]+(/\S*)?")
_SUFFIXES: Final = ("_bucket", "_sum", "_count")
_MOST_BYTES: Final = 16 * 1024 * 1024
_MOST: Final = 2.0**63
"""No number of an authority is as large."""


class NothingRead(Exception):
    """The URL shows no metrics of an authority. The message says why, in a part of a sentence."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What was shown at one moment, added up over all workers unless a worker is asked for."""

    samples: Mapping[str, tuple[tuple[Mapping[str, str], float], ...]]
    """By the name of the sample in Prometheus: its labels and its value."""

    def total(self, metric: Metric, suffix: str = "", **labels: str) -> float:
        """The sum of the samples with these labels; 0 when there is none."""
        return sum(value for _, value in self._of(metric, suffix, labels))

    def least(self, metric: Metric) -> float | None:
        """The least of the samples; None when there is none."""
        return min((value for _, value in self._of(metric, "", {})), default=None)

    def farthest(self, metric: Metric) -> float | None:
        """The sample farthest from 0; None when there is none."""
        return max((value for _, value in self._of(metric, "", {})), key=abs, default=None)

    def by(self, metric: Metric, label: str, suffix: str = "", **labels: str) -> Counter[str]:
        """The sums for each value of the label."""
        sums: Counter[str] = Counter()
        for found, value in self._of(metric, suffix, labels):
            sums[found.get(label, "")] += value  # type: ignore[assignment] # counters of floats add up as well
        return sums

    def labels_of(self, metric: Metric, label: str) -> list[str]:
        """The values of a label, sorted."""
        return sorted({found[label] for found, _ in self._of(metric, "", {}) if label in found})

    def has(self, metric: Metric) -> bool:
        """Whether there is any sample of the metric."""
        return metric.in_prometheus in self.samples

    def _of(self, metric: Metric, suffix: str, labels: Mapping[str, str]) -> Iterator[tuple[Mapping[str, str], float]]:
        assert suffix in ("", *_SUFFIXES)
        for found, value in self.samples.get(metric.in_prometheus + suffix, ()):
            if all(found.get(name) == wanted for name, wanted in labels.items()):
                yield found, value


def read(url: str, within_s: float) -> Shown:
    """What is shown at the URL now, if it is shown in so many seconds and at most 16 MiB. Raises NothingRead."""
    if not _URL.fullmatch(url):
        raise NothingRead(f"{url!r} is no http:// or https:// URL")
    try:
        with urllib.request.urlopen(url, timeout=within_s) as answer:  # noqa: S310 - its scheme was looked at
            return _shown(url, _all_of(answer, time.monotonic() + within_s).decode("utf-8"))
    except OSError as error:
        raise NothingRead(f"{url} does not answer ({_words(error)})") from error
    except (HTTPException, ValueError) as error:
        raise NothingRead(f"{url} does not show metrics ({type(error).__name__})") from error


def _all_of(answer: HTTPResponse, ends: float) -> bytes:
    """What is answered until then. Raises OSError for more, or later: whoever is asked may be anybody."""
    data = bytearray()
    while part := answer.read1(_MOST_BYTES):
        data += part
        if len(data) > _MOST_BYTES:
            raise OSError(f"more than {_MOST_BYTES:,} bytes")
        if time.monotonic() > ends:
            raise TimeoutError("timed out")
    return bytes(data)


def _shown(url: str, text: str) -> Shown:
    from prometheus_client.parser import text_string_to_metric_families  # noqa: PLC0415 - for one command among many

    samples: dict[str, list[tuple[Mapping[str, str], float]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if not abs(sample.value) < _MOST:
                raise ValueError(sample.value)
            samples.setdefault(sample.name, []).append((sample.labels, sample.value))
    if BUILD.in_prometheus not in samples:
        raise NothingRead(f"{url} shows metrics, and not those of an authority")
    return Shown({name: tuple(found) for name, found in samples.items()})


def _words(error: OSError) -> str:
    """What the system says of it; of an answer that is no metrics, what the server says."""
    cause = getattr(error, "reason", error)
    return getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
