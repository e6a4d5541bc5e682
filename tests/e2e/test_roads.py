"""A commit is the same request by whatever road it comes: alone, in a batch, on a stream, with another trace (D14)."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import permutations

import pytest

from capability_authority.client import AuthorityError, CommitItem, Committed, IdempotencyConflict
from tests.installation.storage import TABLES, Storage
from tests.installation.team import Ready, Team, all_of

Road = Callable[[Team, Sequence[Ready], str], Awaitable[list[Committed | AuthorityError]]]
TRACES = [f"00-{number:032x}-{number:016x}-01" for number in range(1, 4)]


async def _alone(team: Team, ready: Sequence[Ready], trace: str) -> list[Committed | AuthorityError]:
    return await all_of(
        team.service.commit(one.capability, content=one.content, traceparent=trace, timeout=25) for one in ready
    )


async def _in_a_batch(team: Team, ready: Sequence[Ready], trace: str) -> list[Committed | AuthorityError]:
    return await team.service.commit_batch(_items(ready), traceparent=trace, timeout=50)


async def _on_a_stream(team: Team, ready: Sequence[Ready], trace: str) -> list[Committed | AuthorityError]:
    outcomes = {
        one.commit_idempotency_key: one async for one in team.service.commit_stream(_items(ready), traceparent=trace)
    }
    return [outcomes[one.key].outcome for one in ready]


def _items(ready: Sequence[Ready]) -> list[CommitItem]:
    return [CommitItem(one.capability, content=one.content) for one in ready]


ROADS: dict[str, Road] = {"alone": _alone, "batch": _in_a_batch, "stream": _on_a_stream}


@pytest.mark.parametrize("order", list(permutations(ROADS)), ids="-".join)
async def test_d14_a_retry_by_another_road_is_a_replay(team: Team, storage: Storage, order: tuple[str, ...]) -> None:
    # Given commits that came by one road
    ready = [await team.ready() for _ in range(3)]
    before = storage.assert_whole().receipts
    first, *others = zip(order, TRACES, strict=True)
    road, trace = first
    answers = await ROADS[road](team, ready, trace)
    receipts = [one.receipt.statement for one in answers if isinstance(one, Committed) and not one.replayed]
    assert len(receipts) == 3
    # When each comes again by the others, with another trace and another deadline
    for road, trace in others:
        again = await ROADS[road](team, ready, trace)
        # Then it is the same request, answered with the same bytes
        assert [one.receipt.statement for one in again if isinstance(one, Committed) and one.replayed] == receipts
    assert storage.assert_whole().receipts == before + 3


async def test_a12_other_content_under_a_settled_key_conflicts_by_every_road(team: Team, storage: Storage) -> None:
    # Given a settled commit
    ready = await team.ready()
    await team.commit(ready)
    kept = [table for table in TABLES if table != "stream_nonce"]
    before = storage.dump(*kept)
    other = CommitItem(ready.capability, content=b"Another text.")
    # When its key comes with other content, in a batch and on a stream
    (in_batch,) = await team.service.commit_batch([other])
    on_stream = [one.outcome async for one in team.service.commit_stream([other])]
    # Then it conflicts and names what differs
    for answer in (in_batch, *on_stream):
        assert isinstance(answer, IdempotencyConflict)
        assert answer.differs == ["content_digest"]
    assert storage.dump(*kept) == before
