"""Commits on a stream: each item as if it had come alone, by a caller who is judged anew for it."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from authority.domain.identity import PrincipalKind, Right
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal, malformed
from authority.usecases.commit import CommitAnswer
from tests.world.world import World, all_are, must, reason_of

UNKNOWN = Refusal(Reason.CALLER_UNAUTHENTICATED)


async def _revoke_key(world: World) -> None:
    await world.authority.store.administration.revoke_principal_key(world.tenant, world.service.key_id, world.now())


async def _revoke_principal(world: World) -> None:
    await world.authority.store.administration.revoke_principal(world.tenant, world.service.ref, world.now())


async def test_an_item_is_answered_as_a_commit_is(world: World) -> None:
    # given a good item, one that was committed before, and one whose shape was refused
    fresh, (settled, before) = await world.issued(), await world.committed()
    shape = malformed("presentation.content", "empty")
    # when they come on a stream, all at once
    commit = must(await world.open_stream())
    first, again, refused = await asyncio.gather(commit(fresh), commit(settled), commit(shape))
    # then each is answered as it would be alone
    assert not must(first).replayed
    assert must(again).replayed
    assert must(again).receipt == before.receipt
    assert refused == shape
    assert await world.counts() == all_are(2)


async def test_i17_twins_in_flight_are_answered_as_if_one_came_after_the_other(world: World) -> None:
    # given the same item many times, and two capabilities of one proposal
    twin = await world.issued()
    ground = await world.allowed()
    rivals = [await world.issued_on(ground, key=key) for key in ("lower", "upper")]
    commit = must(await world.open_stream())
    answers = await asyncio.gather(*map(commit, [twin] * 8 + rivals))
    # then there is one record of each, and whoever comes second is told of the first
    twins, others = [must(answer) for answer in answers[:8]], answers[8:]
    assert sorted(answer.replayed for answer in twins) == [False] + [True] * 7
    assert len({answer.receipt.receipt_id for answer in twins}) == 1
    assert sorted(isinstance(answer, CommitAnswer) for answer in others) == [False, True]
    assert {reason_of(answer) for answer in others} == {None, Reason.ALREADY_COMMITTED}
    assert await world.counts() == all_are(2)


@pytest.mark.parametrize("revoke", [_revoke_key, _revoke_principal])
async def test_i11_whoever_is_revoked_meanwhile_commits_no_further_item(
    world: World, revoke: Callable[[World], Awaitable[None]]
) -> None:
    # given a stream on which something was committed
    done, waiting = await world.issued(), await world.issued()
    commit = must(await world.open_stream())
    assert not must(await commit(done)).replayed
    # when its key, or its principal, is revoked
    await revoke(world)
    # then the next item is not committed, and nothing is told, not even what was committed or what is malformed
    for item in (waiting, done, malformed("presentation.content", "empty")):
        assert await commit(item) == UNKNOWN
    assert await world.counts() == all_are(1)


async def test_i11_of_many_items_none_lands_after_the_withdrawal_was_acknowledged(world: World) -> None:
    # given many items under way while the key is revoked
    items = [await world.issued() for _ in range(12)]
    commit = must(await world.open_stream())
    running = [asyncio.ensure_future(commit(one)) for one in items[:6]]
    await _revoke_key(world)
    landed = await world.counts()
    running += [asyncio.ensure_future(commit(one)) for one in items[6:]]
    answers = await asyncio.gather(*running)
    # then the records are those of the items that were told so, and none came after
    assert await world.counts() == landed
    assert landed == all_are(sum(isinstance(answer, CommitAnswer) for answer in answers))
    assert set(map(reason_of, answers)) <= {None, Reason.CALLER_UNAUTHENTICATED, Reason.KEY_REVOKED}
    assert answers[6:] == [UNKNOWN] * 6


async def test_items_of_another_holder_are_refused_alone(world: World) -> None:
    own, other = await world.issued(), await (await world.neighbour()).issued()
    commit = must(await world.open_stream())
    assert await commit(other) == Refusal(Reason.HOLDER_MISMATCH)
    assert not must(await commit(own)).replayed


async def test_only_who_may_commit_may_stream(world: World) -> None:
    reader = await world.register(PrincipalKind.SERVICE, "reader", frozenset({Right.READ}))
    for person in (reader, world.agent):
        assert await world.open_stream(by=person) == Refusal(Reason.NOT_ALLOWED, {"right": "commit"})
