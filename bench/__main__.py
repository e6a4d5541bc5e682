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
from bench.batch import measure_batch, profile_batch
from bench.figures import Figure, note, show
from bench.installation import installed
from bench.options import Options, parse
from bench.serving import served
from bench.stage import Stage
from bench.unary import measure_unary, profile_unary

Measurement: TypeAlias = Callable[[Stage], Iterator[Figure]]

_INTERRUPTED: Final = 130
_TERMINATED: Final = 143
"""Exit codes after Ctrl-C and SIGTERM, as shells count them."""

_MEASUREMENTS: Final[Mapping[str, Measurement]] = MappingProxyType({"unary": measure_unary, "batch": measure_batch})
_PROFILES: Final[Mapping[str, Measurement]] = MappingProxyType({"unary": profile_unary, "batch": profile_batch})


def main() -> int:
    """Prints the figures as they come, and all of them as a table at the end."""
    options = parse()
    figures: list[Figure] = []
    signal.signal(signal.SIGINT, signal.default_int_handler)  # Scripts have it ignored in what they start beside them.
    try:
        with stopped_by_sigterm(_TERMINATED), _folder(options) as folder:
            for figure in _measure(folder, options):
                figure.emit()
                figures.append(figure)
    except KeyboardInterrupt:
        note("stopped")
        return _INTERRUPTED
    finally:
        show(figures)
    return 0


def _measure(folder: Path, options: Options) -> Iterator[Figure]:
    note("… starting PostgreSQL and Valkey")
    with installed(folder) as installation, served(folder, installation.settings()) as service:
        stage = Stage(installation, service, options)
        for name in options.measure:
            yield from (_PROFILES if options.profile else _MEASUREMENTS)[name](stage)


@contextlib.contextmanager
def _folder(options: Options) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="authority-bench-", dir=options.data))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
