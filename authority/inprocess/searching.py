"""Keyword search over content: what PostgreSQL's `websearch_to_tsquery` and `ts_rank` do, as far as tests ask it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import log2

from authority.domain.search_text import SearchText

_TERM = re.compile(r'(?P<minus>(?:-[\s!&|()]*)*)(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+))')
_WORD = re.compile(r"[^\W_]+")
_OF_SAID, _OF_NAMES = 1.0, 0.1
_SERIES = 1.64493406685
"""Of 1/n², all n: what a word that occurs without end comes to."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Words in a row, one where it is no phrase; or the lack of them."""

    words: tuple[str, ...]
    excluded: bool


class SearchedWords:
    """The words of one content in their order, those of its field names after those that it says."""

    def __init__(self, text: SearchText) -> None:
        said, names = _words(text.said), _words(text.names)
        self._words = (*said, *names)
        self._weights = [_OF_SAID] * len(said) + [_OF_NAMES] * len(names)

    def matches(self, query: str) -> bool:
        """Whether it has all the words of the query, or all of another alternative."""
        return any(all(self._has(it) for it in alternative) for alternative in _alternatives(query))

    def score(self, query: str) -> int:
        """In millionths, by ts_rank's formula for words that stand alone."""
        wanted = [word for alternative in _alternatives(query) for it in alternative for word in it.words]
        total = sum(self._of_word(word) for word in wanted) / (len(wanted) or 1)
        return int(total / (log2(len(self._words) + 1) or 1) * 1_000_000)

    def _has(self, wanted: _Wanted) -> bool:
        size = len(wanted.words)
        rows = (self._words[begin : begin + size] for begin in range(len(self._words) - size + 1))
        return (wanted.words in rows) is not wanted.excluded

    def _of_word(self, word: str) -> float:
        weights = [weight for it, weight in zip(self._words, self._weights, strict=True) if it == word]
        if not weights:
            return 0.0
        total = sum(weight / (place * place) for place, weight in zip(count(1), weights, strict=False))
        best = max(range(len(weights)), key=weights.__getitem__)
        return (weights[best] + total - weights[best] / (best + 1) ** 2) / _SERIES


def _alternatives(query: str) -> Iterator[Sequence[_Wanted]]:
    """What `or` divides, each a list of what is wanted together; nothing for a query without words."""
    terms: list[_Wanted] = []
    for found in _TERM.finditer(query):
        if found["word"] and found["word"].lower() == "or":
            if terms:
                yield terms
            terms = []
        elif words := _words(found["phrase"] or found["word"] or ""):
            terms.append(_Wanted(words, found["minus"].count("-") % 2 == 1))
    if terms:
        yield terms


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower()))
