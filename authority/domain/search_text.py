"""What recall looks for in a piece of content: a projection for search, never the record (semantics §8)."""

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from authority.domain import limits


@dataclass(frozen=True, slots=True)
class SearchText:
    """The words of a content: those it says, and the names of the JSON fields that it says them in, which weigh less.

    Both together have at most `limits.SEARCH_CHARACTERS` characters: what comes after is not searched.
    """

    said: str
    names: str


def search_text(content: bytes, media_type: str) -> SearchText:
    """The words of content whose form was judged; none for what is neither text nor JSON.

    Of JSON these are its strings and its field names, in the order of the document; numbers, true, false and null say
    nothing alone.
    """
    if media_type == "text/plain":
        return _bounded([content.decode("utf-8", "replace")], [])
    if media_type != "application/json":
        return SearchText("", "")
    said: list[str] = []
    names: list[str] = []
    for text, is_name in _strings(json.loads(content)):
        (names if is_name else said).append(text)
    return _bounded(said, names)


def parted(text: str) -> str:
    """The text with a space for each space, mark of punctuation and symbol beyond ASCII.

    What parts words is so the same in every database: in some locales the parser takes all of these for letters.
    """
    return text.translate({ord(it): " " for it in set(text) if it > "\x7f" and unicodedata.category(it)[0] in "ZPS"})


def _bounded(said: list[str], names: list[str]) -> SearchText:
    of_said = _joined(said, limits.SEARCH_CHARACTERS)
    return SearchText(of_said, _joined(names, limits.SEARCH_CHARACTERS - len(of_said)))


def _joined(texts: list[str], most: int) -> str:
    """The texts, one a line, cut after `most` characters; NUL, which no database holds, parts words."""
    begins = accumulate((len(text) + 1 for text in texts), initial=0)
    taken = (text for text, begin in zip(texts, begins, strict=False) if begin < most)
    return parted("\n".join(taken)[: max(most, 0)].replace("\0", " "))


def _strings(document: object) -> Iterator[tuple[str, bool]]:
    """Every string of the document, and whether it is a field's name."""
    if isinstance(document, str):
        yield document, False
    elif isinstance(document, dict):
        for name, value in document.items():
            yield name, True
            yield from _strings(value)
    elif isinstance(document, list):
        for item in document:
            yield from _strings(item)
