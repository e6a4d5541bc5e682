"""What commands write: answers on standard output, for people or as JSON, and everything else on standard error."""

import json
import sys
from typing import TYPE_CHECKING, TypeAlias

from rich.console import Console

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


def console_for_answers() -> Console:
    """Standard output as it is now."""
    return Console(file=sys.stdout, width=None if sys.stdout.isatty() else _WIDE, highlight=False)


def console_for_notes() -> Console:
    """Standard error as it is now."""
    return Console(file=sys.stderr, highlight=False)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", errors="backslashreplace").decode("ascii")
