"""What the benchmark prints: one JSON line a figure on standard output, progress and a table on standard error."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from rich.console import Console
from rich.table import Table

_DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number. `detail` says how it came about, with everything needed to doubt it."""

    name: str
    value: float
    spread: float
    """(largest - smallest) / median over the rounds: 0.1 is ten percent; 0 when there was one round."""
    detail: Mapping[str, Any]

    def emit(self) -> None:
        """The figure as one line of JSON on standard output."""
        members = {
            "name": self.name,
            "value": significant(self.value),
            "spread": significant(self.spread),
            "detail": self.detail,
        }
        print(json.dumps(members), flush=True)


def figure_of(name: str, rounds: Sequence[float], detail: Mapping[str, Any]) -> Figure:
    """The median of the rounds, and how far apart they lie."""
    return Figure(name, median(rounds), spread_of(rounds), {**detail, "rounds": [significant(one) for one in rounds]})


def spread_of(rounds: Sequence[float]) -> float:
    """(largest - smallest) / median."""
    return (max(rounds) - min(rounds)) / median(rounds)


def significant(value: float) -> float:
    """The number with as many digits as a benchmark can mean."""
    return float(f"{value:.{_DIGITS}g}")


def note(text: str) -> None:
    """A line about the progress on standard error."""
    print(text, file=sys.stderr, flush=True)


def show(figures: Sequence[Figure]) -> None:
    """All figures as a table on standard error."""
    table = Table("figure", "value", "spread", "by CPU", "rounds", box=None, pad_edge=False)
    for figure in figures:
        rounds = " ".join(f"{one:g}" for one in figure.detail.get("rounds", ()))
        table.add_row(
            figure.name, f"{figure.value:.4g}", f"{figure.spread:.0%}", str(figure.detail.get("by_cpu", "")), rounds
        )
    Console(file=sys.stderr, highlight=False, width=None if sys.stderr.isatty() else 120).print(table)
