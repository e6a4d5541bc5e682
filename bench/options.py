"""The options of the benchmark."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """What to measure, and how much of it."""

    measure: tuple[str, ...]
    """Nothing is everything."""
    profile: bool
    """Whether to show where the service's time goes, instead of figures."""
    workers: tuple[int, ...]
    """Everything is measured with each of these numbers of processes of the service."""
    rounds: int
    unary_commits: int
    """Commits of a round, and as many empty calls and replays."""
    many_commits: int
    """Commits of a round in batches, and as many over streams and in transactions of pgbench."""
    exchanges: int
    """Of a round."""
    concurrent: int
    batch_size: int
    batches_at_once: int
    streams: int
    clients: int
    """Processes that make load."""
    channels: int
    """Connections of all of them together."""
    data: Path | None


def parse(names: Sequence[str], arguments: Sequence[str] | None = None) -> Options:
    """The options, `names` being what can be measured; ends the process for wrong ones, as every command does."""
    parser = argparse.ArgumentParser(
        prog="make bench", description="Measures what commits cost on this machine; asserts nothing."
    )
    add = parser.add_argument
    add("measure", nargs="*", metavar="WHAT", help=f"of: {', '.join(names)}; everything when left out")
    add("--profile", action="store_true", help="show where the service's time goes, instead of figures")
    add("--workers", type=_numbers, default=(1,), metavar="N[,N]", help="processes of the service, each number in turn")
    add("--rounds", type=_positive, default=5, help="rounds of each measurement")
    add("--unary-commits", type=_positive, default=2048, help="unary commits, and empty calls and replays, of a round")
    add("--many-commits", type=_positive, default=8192, help="commits in batches, and over streams, of a round")
    add("--exchanges", type=_positive, default=512, help="whole exchanges of a round")
    add("--concurrent", type=_positive, default=64, help="unary calls, or exchanges, under way at once")
    add("--batch-size", type=_positive, default=256, help="commits of a batch")
    add("--batches-at-once", type=_positive, default=4, help="batches under way at once")
    add("--streams", type=_positive, default=4, help="streams open at once")
    add("--clients", type=_positive, default=1, help="processes that make load")
    add("--channels", type=_positive, default=8, help="connections of all of them together")
    add("--data", type=Path, help="a folder on the disk to measure, instead of the one for temporary files")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.measure if name not in names]
    if unknown:
        parser.error(f"cannot measure {', '.join(unknown)}; there are: {', '.join(names)}")
    return Options(**{**vars(given), "measure": tuple(given.measure)})


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(_positive, text.split(",")))
