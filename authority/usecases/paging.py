"""Turns pages: one item more than asked for is fetched, and its presence makes the next token."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from authority.domain.identity import Caller
from authority.domain.refusal import Refusal
from authority.usecases.ports import Clock, PageTokens

Item = TypeVar("Item")


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
    ) -> Page[Item] | Refusal:
        """The page that `fetch(after, size)` gives, or MALFORMED for a token of another tenant, caller or query."""
        now = self.clock.now()
        binding = "\n".join((str(caller.tenant), str(caller.ref), *query))
        after = self.tokens.open(binding, page.token, now) if page.token else ""
        if isinstance(after, Refusal):
            return after
        found = await fetch(after, page.size + 1)
        items = found[: page.size]
        is_last = len(found) <= page.size
        return Page(items, "" if is_last else self.tokens.seal(binding, position_of(items[-1]), now))
