"""Selectors of a grant: names made of whole segments, exact or everything below a prefix (semantics §6)."""

from collections.abc import Iterable
from typing import Final

from authority.domain import shape

_BELOW: Final = "/*"


def covers(selectors: Iterable[str], selector: str) -> bool:
    """Whether one of the selectors reaches everything that `selector` reaches: equal or wider, by whole segments.

    `t/*` covers `t/a`, `t/a/b` and `t/a/*`, and neither `t` nor `t1`. What is no selector is covered by nothing.
    """
    return shape.is_selector(selector) and any(_reaches(wider, selector) for wider in selectors)


def select(selectors: Iterable[str], name: str) -> bool:
    """Whether one of the selectors selects exactly this name, byte for byte; a name with `*` is selected by none."""
    return not name.endswith(_BELOW) and covers(selectors, name)


def _reaches(wider: str, selector: str) -> bool:
    """What is no selector reaches nothing: none begins with it."""
    return selector == wider or (wider.endswith(_BELOW) and selector.startswith(wider.removesuffix("*")))
