"""Turns pages: one item more than asked for is fetched, and its presence makes the next token."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from authority.domain import limits
from authority.domain.identity import Caller
from authority.domain.refusal import Refusal
from authority.usecases.ports import Clock, PageTokens

Item = TypeVar("Item")

_ROUND = 16
"""How many weighed items are fetched at once: at most this many of the largest are in memory for one page."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """How many at most (1 to 200), and the token of the page before; empty for the first."""

    size: int
    token: str


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some items, and the token of the next page; empty at the end."""

    items: Sequence[Item]
    next_token: str


@dataclass(frozen=True, slots=True)
class Listing(Generic[Item]):
    """How the items of one query are found."""

    query: tuple[str, ...]
    """What a page token is bound to, beside tenant and caller."""
    fetch: Callable[[str, int], Awaitable[Sequence[Item]]]
    """So many items after a position, in their order; the position before the first is empty."""
    position_of: Callable[[Item], str]
    weight_of: Callable[[Item], int] | None = None
    """About how many bytes an item has when sent; None for items that are small whatever they say."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Seals and opens page tokens, bound to tenant, caller and query (semantics §8)."""

    tokens: PageTokens
    clock: Clock

    async def turn(self, caller: Caller, page: PageRequest, listing: Listing[Item]) -> Page[Item] | Refusal:
        """The page, or MALFORMED for a token of another tenant, caller or query.

        A page of weighed items ends before `limits.PAGE_BYTES`, yet has one item where there is any: such an item alone
        may be a little larger.
        """
        now = self.clock.now()
        binding = "\n".join((str(caller.tenant), str(caller.ref), *listing.query))
        after = self.tokens.open(binding, page.token, now) if page.token else ""
        if isinstance(after, Refusal):
            return after
        found = await _gather(listing, after, page.size + 1)
        items = found[: min(page.size, _fitting(listing, found))]
        is_last = len(items) == len(found)
        return Page(items, "" if is_last else self.tokens.seal(binding, listing.position_of(items[-1]), now))


async def _gather(listing: Listing[Item], after: str, wanted: int) -> list[Item]:
    """Up to `wanted` items: fewer at the end, or once they are more than a page can hold."""
    found: list[Item] = []
    while len(found) < wanted and _fitting(listing, found) == len(found):
        size = wanted - len(found) if listing.weight_of is None else min(wanted - len(found), _ROUND)
        more = await listing.fetch(listing.position_of(found[-1]) if found else after, size)
        found.extend(more)
        if len(more) < size:
            break
    return found


def _fitting(listing: Listing[Item], found: Sequence[Item]) -> int:
    """How many of the items one page can hold: all, or those within the budget, and never none of some."""
    if listing.weight_of is None:
        return len(found)
    total = 0
    for index, item in enumerate(found):
        total += listing.weight_of(item)
        if total > limits.PAGE_BYTES:
            return max(index, 1)
    return len(found)
