"""Metrics of several processes at one address: a label `worker` tells them apart."""

import contextlib
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPException
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from authority.telemetry.prometheus import served

_WORKER: Final = "worker"
_WITHIN_S: Final = 1.0


class _Together(Collector):
    def __init__(self, urls: Callable[[], Mapping[str, str]]) -> None:
        self._urls = urls

    def collect(self) -> Iterator[Metric]:
        """What each of them shows now; one that does not answer is left out."""
        together: dict[str, Metric] = {}
        for worker, url in self._urls().items():
            for family in _families(url):
                whole = together.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                whole.samples.extend(
                    sample._replace(labels={**sample.labels, _WORKER: worker}) for sample in family.samples
                )
        yield from together.values()


def _families(url: str) -> list[Metric]:
    try:
        with urllib.request.urlopen(url, timeout=_WITHIN_S) as answer:  # noqa: S310 - of a worker of ours
            return [*text_string_to_metric_families(answer.read().decode())]
    except (OSError, HTTPException):
        return []


@contextlib.contextmanager
def served_together(listen: str, urls: Callable[[], Mapping[str, str]]) -> Iterator[str]:
    """Serves at `HOST:PORT` what the URLs show, which are asked for anew each time, and answers with its own URL.

    Raises CannotExport.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Together(urls))
    with served(listen, registry) as url:
        yield url
