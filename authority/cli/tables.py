"""Tables for people, which never break a word: an id or a digest stays in one piece, to be copied."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from rich.cells import cell_len
from rich.text import Text

from authority.cli.output import console_for_answers, printable, say

Row: TypeAlias = Sequence[str | Text]

_GAP: Final = 2
_LONG: Final = 36
"""Columns that a word has at most before it may go on a line of its own: a UUID stays, a digest has 71."""
_CROWDED: Final = 0.8
"""Of the width: where single words take more, the rest would be folded into columns of one word each."""
_WORD: Final = re.compile(r"^\s*\S+|\S+", re.MULTILINE)


def table(columns: Sequence[str], rows: Iterable[Row], *, none: str = "none") -> None:
    """A table on standard output, or the words `none` when it would be empty."""
    filled = [[cell if isinstance(cell, Text) else Text(_printable(cell)) for cell in row] for row in rows]
    if not filled:
        say(none)
        return
    console = console_for_answers()
    for line in laid_out(columns, filled, console.width):
        if console.is_terminal:
            console.print(line, soft_wrap=True)
        else:
            say(line.plain)


def laid_out(columns: Sequence[str], rows: Sequence[Sequence[Text]], width: int) -> Iterator[Text]:
    """The lines of the table: no wider than `width` unless its words are, each of which is in one piece.

    Where the words of a row do not fit beside each other, the longest go below it, or above when one begins the row.
    """
    grid = [[Text(column, style="bold") for column in columns], *rows]
    lifts = _total([_longest(cells) for cells in zip(*grid, strict=True)]) > width * _CROWDED
    kept = [[Text() if lifts and _is_long(cell) else cell for cell in row] for row in grid]
    if lifts:
        _follow(grid, kept)
    widths = _fitted(list(zip(*kept, strict=True)), width)
    for whole, row in zip(grid, kept, strict=True):
        lifted = [[] if left.plain else list(cell.split()) for cell, left in zip(whole, row, strict=True)]
        yield from filter(lambda line: line.plain, lifted[0])
        yield from filter(lambda line: line.plain or not lifts, _beside(row, widths))
        yield from (Text("  ").append_text(line) for lines in lifted[1:] for line in lines if line.plain)


def _follow(grid: list[Sequence[Text]], kept: list[list[Text]]) -> None:
    """A heading goes below too when everything in its column does."""
    for number in range(len(grid[0])):
        if any(row[number].plain for row in grid[1:]) and not any(row[number].plain for row in kept[1:]):
            kept[0][number] = Text()


def _fitted(columns: Sequence[Sequence[Text]], width: int) -> list[int]:
    """The widest columns are narrowed first, none below its longest word."""
    least = [_longest(cells) for cells in columns]
    widths = [max(cell_len(line.plain) for cell in cells for line in _lines(cell)) for cells in columns]
    while (excess := _total(widths) - width) > 0:
        loose = [number for number, wide in enumerate(widths) if wide > least[number]]
        if not loose:
            break
        widest = max(loose, key=lambda number: widths[number])
        widths[widest] = max(least[widest], widths[widest] - excess)
    return widths


def _beside(row: Sequence[Text], widths: Sequence[int]) -> Iterator[Text]:
    console = console_for_answers()
    wrapped = [list(cell.wrap(console, max(1, wide))) for cell, wide in zip(row, widths, strict=True)]
    for number in range(max(len(lines) for lines in wrapped)):
        line = Text()
        for lines, wide in zip(wrapped, widths, strict=True):
            part = lines[number] if number < len(lines) else Text()
            part.rstrip()
            part.pad_right(max(0, wide - part.cell_len) + _GAP if wide else 0)
            line.append_text(part)
        line.rstrip()
        yield line


def _is_long(cell: Text) -> bool:
    return _longest([cell]) > _LONG


def _longest(cells: Iterable[Text]) -> int:
    return max((cell_len(word) for cell in cells for word in _WORD.findall(cell.plain)), default=0)


def _lines(cell: Text) -> Iterable[Text]:
    return cell.split(allow_blank=True)


def _total(widths: Sequence[int]) -> int:
    present = [wide for wide in widths if wide]
    return sum(present) + _GAP * (len(present) - 1)


def _printable(cell: str) -> str:
    return "\n".join(printable(line) for line in cell.split("\n"))
