"""The options of the benchmark."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
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
    recall_tenants: int
    recall_records: int
    """Of each of them."""
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
    add, count = parser.add_argument, partial(_add_count, parser)
    add("measure", nargs="*", metavar="WHAT", help=f"of: {', '.join(names)}; everything when left out")
    add("--profile", action="store_true", help="show where the service's time goes, instead of figures")
    add(
        "--workers",
        type=_numbers,
        default=(1,),
        metavar="N[,N]",
        help="processes of the service, each number in turn; 1 when left out",
    )
    count("--rounds", 5, "rounds of each measurement")
    count("--unary-commits", 2048, "unary commits, and empty calls and replays, of a round")
    count("--many-commits", 8192, "commits in batches, and over streams, of a round")
    count("--exchanges", 512, "whole exchanges of a round")
    count("--recall-tenants", 100, "tenants in the database while one of them recalls")
    count("--recall-records", 10_000, "records of each of them")
    count("--concurrent", 64, "unary calls, or exchanges, under way at once")
    count("--batch-size", 256, "commits of a batch")
    count("--batches-at-once", 4, "batches under way at once")
    count("--streams", 4, "streams open at once")
    count("--clients", 1, "processes that make load")
    count("--channels", 8, "connections of all of them together")
    add(
        "--data",
        type=Path,
        metavar="DIR",
        help="a folder on the disk to measure, instead of the one for temporary files",
    )
    given = parser.parse_args(arguments)
    unknown = [name for name in given.measure if name not in names]
    if unknown:
        parser.error(f"cannot measure {', '.join(unknown)}; there are: {', '.join(names)}")
    return Options(**{**vars(given), "measure": tuple(given.measure)})


def _add_count(parser: argparse.ArgumentParser, name: str, default: int, what: str) -> None:
    parser.add_argument(name, type=_positive, default=default, metavar="N", help=f"{what}; {default} when left out")


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(text)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(_positive, text.split(",")))
