"""Pages hold as many items as were asked for, and no more bytes than an answer may have (semantics §8, §10)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authority.domain import limits
from authority.domain.identity import Caller, Principal, PrincipalKind, Proof
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.signing.page_tokens import SealedPageTokens
from authority.usecases.paging import Page, PageRequest, Pages

KIB = 1024
HALF = limits.PAGE_BYTES // 2


class StandingClock:
    """A clock that stands."""

    def now(self) -> Instant:
        """Always the same instant."""
        return Instant(1_000)


CALLER = Caller(
    Principal(TenantRef("acme", "t1"), PrincipalRef("acme", "reader"), PrincipalKind.USER, frozenset()),
    "sha256:" + "a" * 64,
    Proof(b"nonce", None),
    one_use=True,
)
OTHER_CALLER = Caller(
    Principal(TenantRef("acme", "t1"), PrincipalRef("acme", "other"), PrincipalKind.USER, frozenset()),
    "sha256:" + "a" * 64,
    Proof(b"nonce", None),
    one_use=True,
)
PAGES = Pages(SealedPageTokens(b"k" * 32), StandingClock())


@dataclass(frozen=True, slots=True)
class Item:
    """Something that is listed."""

    id: str
    weight: int


@dataclass(slots=True)
class Shelf:
    """Items in the order of their ids, and how many were asked for at once."""

    items: list[Item]
    asked: list[int] = field(default_factory=list)

    async def fetch(self, after: str, size: int) -> Sequence[Item]:
        """What a store answers."""
        self.asked.append(size)
        return [item for item in self.items if item.id > after][:size]

    async def page(self, size: int, token: str = "", caller: Caller = CALLER) -> Page[Item] | Refusal:
        """A weighed page."""
        return await PAGES.turn(
            caller, ("shelf",), PageRequest(size, token), self.fetch, lambda item: item.id, lambda item: item.weight
        )

    async def all_pages(self, size: int) -> list[list[Item]]:
        """Every page in turn."""
        pages, token = [], ""
        while True:
            page = await self.page(size, token)
            assert not isinstance(page, Refusal)
            pages.append(list(page.items))
            if not (token := page.next_token):
                return pages


def _shelf(*weights: int) -> Shelf:
    return Shelf([Item(f"{number:05}", weight) for number, weight in enumerate(weights)])


@pytest.mark.parametrize(
    ("weights", "size", "expected"),
    [
        ((), 50, [0]),
        ((1,), 50, [1]),
        ((1, 1, 1), 2, [2, 1]),
        ((1, 1), 2, [2]),
        ((HALF, HALF), 50, [2]),
        ((HALF, HALF, 1), 50, [2, 1]),
        ((HALF, HALF + 1), 50, [1, 1]),
        ((2 * HALF + 1,), 50, [1]),
        ((2 * HALF + 1, 2 * HALF + 1, 1), 50, [1, 1, 1]),
        ((1, 2 * HALF + 1, 1), 50, [1, 1, 1]),
        ((1,) * 70, 50, [50, 20]),
        ((1,) * 16, 50, [16]),
        ((1,) * 17, 16, [16, 1]),
    ],
)
async def test_a_page_ends_at_its_size_or_its_bytes(weights: tuple[int, ...], size: int, expected: list[int]) -> None:
    pages = await _shelf(*weights).all_pages(size)

    assert [len(page) for page in pages] == expected


@given(weights=st.lists(st.integers(0, limits.PAGE_BYTES + 9), max_size=40), size=st.integers(1, 40))
async def test_pages_together_are_the_whole_list_and_each_keeps_its_bounds(weights: list[int], size: int) -> None:
    shelf = _shelf(*weights)

    pages = await shelf.all_pages(size)

    assert [item for page in pages for item in page] == shelf.items
    for page in pages:
        assert len(page) <= size
        assert len(page) == 1 or sum(item.weight for item in page) <= limits.PAGE_BYTES
    assert all(pages[:-1]), "only the last page may be empty"


async def test_large_items_are_not_fetched_by_the_hundred() -> None:
    # Given a thousand items of the largest size.
    shelf = _shelf(*(limits.CONTENT_BYTES,) * 1000)

    # When a page of 200 is asked for.
    await shelf.page(200)

    # Then few of them were ever in memory at once.
    assert sum(shelf.asked) <= 16


async def test_a_page_token_serves_its_own_caller_only() -> None:
    shelf = _shelf(*(1,) * 3)
    first = await shelf.page(2)
    assert not isinstance(first, Refusal)

    assert isinstance(await shelf.page(2, first.next_token, OTHER_CALLER), Refusal)
    assert not isinstance(await shelf.page(2, first.next_token), Refusal)
