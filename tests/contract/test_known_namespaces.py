"""An empty memory namespace is told from one that there is not, by every list of one (semantics §2)."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import pytest

from authority.domain.reasons import Reason
from authority.domain.recall import RecallQuery
from authority.domain.refusal import Refusal
from authority.usecases.paging import Page, PageRequest
from authority.usecases.recall_records import RecallRequest
from tests.world.authority import UseCases
from tests.world.world import NAMESPACE, Person, World

FIRST_PAGE = PageRequest(size=9, token="")


def words_in(memory_namespace: str) -> RecallQuery:
    return RecallQuery(memory_namespace=memory_namespace, text="tea")


List: TypeAlias = Callable[[UseCases, Person, str], Awaitable[Page[Any] | Refusal]]
LISTS: dict[str, List] = {
    "records": lambda do, by, name: do.list_records(by.calls(), name, FIRST_PAGE),
    "receipts": lambda do, by, name: do.list_receipts(by.calls(), name, FIRST_PAGE),
    "proposals": lambda do, by, name: do.list_proposals(by.calls(), name, None, FIRST_PAGE),
    "recall": lambda do, by, name: do.recall(by.calls(), RecallRequest(words_in(name), FIRST_PAGE, "")),
}


@pytest.mark.parametrize("ask", LISTS.values(), ids=LISTS)
async def test_g01_an_unknown_memory_namespace_is_not_found_and_an_empty_one_is_empty(world: World, ask: List) -> None:
    # given a memory namespace in which nothing was ever proposed
    user, do = world.user, world.authority.do
    # then it is empty, page and token
    page = await ask(do, user, NAMESPACE)
    assert isinstance(page, Page)
    assert (len(page.items), page.next_token) == (0, "")
    # and another, that no operator made, is not there, whoever asks
    for person in (user, world.admin):
        answer = await ask(do, person, "nowhere")
        assert answer == Refusal(Reason.NOT_FOUND, {"field": "memory_namespace"})
