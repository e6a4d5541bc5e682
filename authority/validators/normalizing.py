"""Unicode normalization whose time grows with the text alone, whatever the text is."""

import unicodedata
from collections.abc import Iterator
from typing import Final, Literal

MARKS: Final = 30
"""Combining marks in a row that are looked at, as in the Stream-Safe Text Format of UAX #15: no language has more."""


def normalized(form: Literal["NFD", "NFKC"], text: str) -> str:
    """The text in this form, without the marks beyond so many in a row.

    Marks are put in their order one by one, so that the time for a long row of them grows with its square, all of it
    without the interpreter being let go: a megabyte of them would stop the process for minutes.
    """
    if text.isascii():
        return text
    return unicodedata.normalize(form, "".join(_stream_safe(text)))


def _stream_safe(text: str) -> Iterator[str]:
    marks = {it for it in set(text) if _begins_with_mark(it)}
    in_a_row = 0
    for it in text:
        in_a_row = in_a_row + 1 if it in marks else 0
        if in_a_row <= MARKS:
            yield it


def _begins_with_mark(character: str) -> bool:
    """Some are no mark themselves, and are put together from marks alone."""
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) > 0
