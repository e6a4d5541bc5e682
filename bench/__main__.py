"""Runs the benchmark: `make bench`, with options by ARGS."""

import contextlib
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from authority.cli.serving import stopped_by_sigterm
from bench.figures import Figure, note, show
from bench.installation import installed
from bench.options import Options, parse
from bench.serving import served
from bench.stage import Stage
from bench.unary import measure_unary

_INTERRUPTED: Final = 130
_TERMINATED: Final = 143
"""Exit codes after Ctrl-C and SIGTERM, as shells count them."""


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
        yield from measure_unary(Stage(installation, service, options))


@contextlib.contextmanager
def _folder(options: Options) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="authority-bench-", dir=options.data))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
