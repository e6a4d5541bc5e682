"""Batches that a proof does not fit, though each is made of what it was made for (case I05)."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def other_batches(first: Item, second: Item, third: Item, fourth: Item) -> Mapping[str, Sequence[Item]]:
    """Every kind of batch but the one of the first three, by what was done to it."""
    return {
        "a subset": [first, third],
        "one alone": [second],
        "reordered": [second, first, third],
        "extended": [first, second, third, fourth],
        "one twice": [first, second, third, third],
        "one replaced": [first, second, fourth],
        "nothing": [],
    }
