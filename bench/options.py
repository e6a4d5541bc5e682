"""The options of the benchmark."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_MEASUREMENTS: Final = ("unary", "batch")


@dataclass(frozen=True, slots=True)
class Options:
    """What to measure, and how much of it."""

    measure: tuple[str, ...]
    profile: bool
    """Whether to show where the service's time goes, instead of figures."""
    rounds: int
    unary_commits: int
    """Commits of a round, and as many empty calls."""
    batch_commits: int
    """Commits of a round in batches."""
    batch_size: int
    batches_at_once: int
    concurrent: int
    clients: int
    """Processes that make load."""
    channels: int
    """Connections of all of them together."""
    data: Path | None


def parse(arguments: Sequence[str] | None = None) -> Options:
    """The options; ends the process for wrong ones, as every command does."""
    parser = argparse.ArgumentParser(
        prog="make bench", description="Measures what commits cost on this machine; asserts nothing."
    )
    parser.add_argument("measure", nargs="*", metavar="WHAT", help=f"of: {', '.join(_MEASUREMENTS)}; all when left out")
    parser.add_argument("--profile", action="store_true", help="show where the service's time goes, instead of figures")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each measurement")
    parser.add_argument("--unary-commits", type=int, default=2048, help="unary commits, and empty calls, of a round")
    parser.add_argument("--batch-commits", type=int, default=8192, help="commits of a round in batches")
    parser.add_argument("--batch-size", type=int, default=256, help="commits of a batch")
    parser.add_argument("--batches-at-once", type=int, default=4, help="batches under way at once")
    parser.add_argument("--concurrent", type=int, default=64, help="unary calls under way at once")
    parser.add_argument("--clients", type=int, default=1, help="processes that make load")
    parser.add_argument("--channels", type=int, default=4, help="connections of all of them together")
    parser.add_argument("--data", type=Path, help="a folder on the disk to measure, instead of a temporary one")
    given = parser.parse_args(arguments)
    unknown = set(given.measure) - set(_MEASUREMENTS)
    if unknown:
        parser.error(f"cannot measure {', '.join(sorted(unknown))}; there are: {', '.join(_MEASUREMENTS)}")
    return Options(**{**vars(given), "measure": tuple(given.measure) or _MEASUREMENTS})
