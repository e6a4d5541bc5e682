"""Runs the benchmark: `make bench`, with options by ARGS."""

import contextlib
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from authority.cli.serving import stopped_by_sigterm
from bench.exchange import measure_exchange, profile_exchange
from bench.figures import Figure, note, show
from bench.grants import measure_grants
from bench.installation import installed
from bench.issue import measure_issue, profile_issue
from bench.many import measure_many, profile_batch, profile_stream
from bench.options import Options, parse
from bench.recall import measure_recall
from bench.serving import served
from bench.stage import Stage
from bench.unary import measure_unary, profile_unary

Measurement: TypeAlias = Callable[[Stage], Iterator[Figure]]

_INTERRUPTED: Final = 130
_TERMINATED: Final = 143
"""Exit codes after Ctrl-C and SIGTERM, as shells count them."""
_MEASUREMENTS: Final[Mapping[str, Measurement]] = MappingProxyType(
    {
        "unary": measure_unary,
        "many": measure_many,
        "issue": measure_issue,
        "exchange": measure_exchange,
        "grants": measure_grants,
        "recall": measure_recall,
    }
)
_PROFILES: Final[Mapping[str, Measurement]] = MappingProxyType(
    {
        "unary": profile_unary,
        "batch": profile_batch,
        "stream": profile_stream,
        "issue": profile_issue,
        "exchange": profile_exchange,
    }
)


def main() -> int:
    """Prints the figures as they come, and all of them as a table at the end."""
    asked_for = _PROFILES if "--profile" in sys.argv else _MEASUREMENTS
    options = parse(list(asked_for))
    figures: list[Figure] = []
    signal.signal(signal.SIGINT, signal.default_int_handler)  # Scripts have it ignored in what they start beside them.
    try:
        with stopped_by_sigterm(_TERMINATED), _folder(options) as folder:
            for figure in _measure(folder, options, asked_for):
                figure.emit()
                figures.append(figure)
    except KeyboardInterrupt:
        note("stopped")
        return _INTERRUPTED
    finally:
        show(figures)
    return 0


def _measure(folder: Path, options: Options, asked_for: Mapping[str, Measurement]) -> Iterator[Figure]:
    note("… starting PostgreSQL and Valkey")
    with installed(folder) as installation:
        for workers in options.workers:
            with served(folder, installation.settings(), workers) as service:
                for name in options.measure or asked_for:
                    yield from asked_for[name](Stage(installation, service, workers, options))


@contextlib.contextmanager
def _folder(options: Options) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="authority-bench-", dir=options.data))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
