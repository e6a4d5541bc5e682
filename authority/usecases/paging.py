"""Turns pages: one item more than asked for is fetched, and its presence makes the next token."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from authority.domain import limits
from authority.domain.identity import Caller
from authority.domain.references import Instant
from authority.domain.refusal import Refusal
from authority.usecases.ports import Clock, PageTokens

Item = TypeVar("Item")

_ROUND = 16
"""How many weighed items are fetched at once: so many of the largest, and no more, are in memory beside a page."""


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
class Pages:
    """Seals and opens page tokens, bound to tenant, caller and query (semantics §8)."""

    tokens: PageTokens
    clock: Clock

    async def turn(
        self,
        caller: Caller,
        query: tuple[str, ...],
        page: PageRequest,
        fetch: Callable[[str, int], Awaitable[Sequence[Item]]],
        position_of: Callable[[Item], str],
        weight_of: Callable[[Item], int] | None = None,
    ) -> Page[Item] | Refusal:
        """The page that `fetch(after, size)` gives, or MALFORMED for a token of another tenant, caller or query.

        `weight_of` says how many bytes an item has at most when sent, where items can be large: the page then ends
        before `limits.PAGE_BYTES`, except that a page never holds none of some.
        """
        turn = self.open(caller, query, page)
        if isinstance(turn, Refusal):
            return turn
        wanted = page.size + 1
        if weight_of is None:
            found = await fetch(turn.after, wanted)
            items = found[: page.size]
        else:
            found = await _gather(turn.after, wanted, fetch, position_of, weight_of)
            items = found[: min(page.size, _fitting(found, weight_of))]
        is_last = len(items) == len(found)
        return turn.page(items, "" if is_last else position_of(items[-1]))

    def open(self, caller: Caller, query: tuple[str, ...], page: PageRequest) -> "Turn | Refusal":
        """Where the page asked for begins, or MALFORMED for a token of another tenant, caller or query."""
        now = self.clock.now()
        binding = "\n".join((str(caller.tenant), str(caller.ref), *query))
        after = self.tokens.open(binding, page.token, now) if page.token else ""
        return after if isinstance(after, Refusal) else Turn(self.tokens, binding, after, now)


@dataclass(frozen=True, slots=True)
class Turn:
    """A page that was asked for and is not read yet."""

    tokens: PageTokens
    binding: str
    after: str
    """The position of the last item of the page before; empty for the first."""
    now: Instant

    def page(self, items: Sequence[Item], last_position: str) -> Page[Item]:
        """The page, and the token of the next, which begins after `last_position`; '' when there is none."""
        return Page(items, last_position and self.tokens.seal(self.binding, last_position, self.now))


async def _gather(
    after: str,
    wanted: int,
    fetch: Callable[[str, int], Awaitable[Sequence[Item]]],
    position_of: Callable[[Item], str],
    weight_of: Callable[[Item], int],
) -> Sequence[Item]:
    """Up to `wanted` items: fewer at the end, or once there are more than fit on a page."""
    found: list[Item] = []
    while len(found) < wanted and _fitting(found, weight_of) == len(found):
        size = min(wanted - len(found), _ROUND)
        more = await fetch(position_of(found[-1]) if found else after, size)
        found.extend(more)
        if len(more) < size:
            break
    return found


def _fitting(found: Sequence[Item], weight_of: Callable[[Item], int]) -> int:
    """How many of the items fit on a page, one at least where there is any."""
    total = 0
    for index, item in enumerate(found):
        total += weight_of(item)
        if total > limits.PAGE_BYTES:
            return max(index, 1)
    return len(found)
