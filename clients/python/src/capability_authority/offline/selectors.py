"""Selectors of a grant: names made of whole segments, exact or everything below a prefix (semantics §6).

The service has the same rule in its own words, for it keeps its rules apart from everything that reads bytes; tests
hold the two together.
"""

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["covers", "is_id", "is_selector", "selects"]

ID_CHARACTERS: Final = 256
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+/-]*")
_NO_SEGMENTS: Final = frozenset({"", ".", ".."})
_BELOW: Final = "/*"


def is_id(text: str) -> bool:
    """Whether `text` is an id, namespace or name: compared byte for byte, nothing trimmed or folded (semantics §2)."""
    return len(text) <= ID_CHARACTERS and _ID.fullmatch(text) is not None


def is_selector(text: str) -> bool:
    """Whether `text` is a selector: whole segments, or a prefix of them and `/*`.

    Segments that are empty, `.` or `..` select nothing and are none, and `*` stands for nothing but whole segments.
    """
    name = text.removesuffix(_BELOW)
    return len(text) <= ID_CHARACTERS and is_id(name) and not _NO_SEGMENTS.intersection(name.split("/"))


def covers(selectors: Iterable[str], selector: str) -> bool:
    """Whether one of the selectors reaches everything that `selector` reaches: equal or wider, by whole segments.

    `t/*` covers `t/a`, `t/a/b` and `t/a/*`, and neither `t` nor `t1`.
    """
    return is_selector(selector) and any(_reaches(wider, selector) for wider in selectors)


def selects(selectors: Iterable[str], name: str) -> bool:
    """Whether one of the selectors selects exactly this name; a name that ends in `/*` is selected by none."""
    return not name.endswith(_BELOW) and covers(selectors, name)


def _reaches(wider: str, selector: str) -> bool:
    """What is no selector reaches nothing: none begins with it."""
    return selector == wider or (wider.endswith(_BELOW) and selector.startswith(wider.removesuffix("*")))
