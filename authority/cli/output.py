"""What commands write: answers on standard output, for people or as JSON, and everything else on standard error."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from rich.console import Console
from rich.table import Table
from rich.text import Text

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"

_WIDE = 400
"""Columns of what goes to a file or pipe: nothing is folded there."""


def printable(text: str) -> str:
    """`text` with everything escaped that could steer a terminal: it may come from anywhere."""
    return "".join(character if character.isprintable() else _escaped(character) for character in text)


def say(text: str = "") -> None:
    """A line for people on standard output."""
    print(text, flush=True)


def note(text: str) -> None:
    """A line for people on standard error: progress, warnings, refusals."""
    print(text, file=sys.stderr, flush=True)


def emit(value: Json, *, in_one_line: bool = False) -> None:
    """One JSON document on standard output."""
    print(json.dumps(value, indent=None if in_one_line else 2), flush=True)


def table(columns: Sequence[str], rows: Iterable[Sequence[str | Text]], *, none: str = "none") -> None:
    """A table on standard output, or the words `none` when it would be empty."""
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        grid.add_column(column, overflow="fold")
    for row in rows:
        grid.add_row(*(cell if isinstance(cell, Text) else Text(printable(cell)) for cell in row))
    if not grid.row_count:
        say(none)
        return
    console = console_for_answers()
    if console.is_terminal:
        console.print(grid)
        return
    with console.capture() as captured:
        console.print(grid)
    say("\n".join(line.rstrip() for line in captured.get().splitlines()))


def console_for_answers() -> Console:
    """Standard output as it is now."""
    return Console(file=sys.stdout, width=None if sys.stdout.isatty() else _WIDE, highlight=False)


def console_for_notes() -> Console:
    """Standard error as it is now."""
    return Console(file=sys.stderr, highlight=False)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", errors="backslashreplace").decode("ascii")
