"""A commit is the same request by whatever road it comes: alone, in a batch, on a stream, with another trace (D14)."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import permutations

import pytest

from capability_authority.client import (
    AuthorityError,
    CapabilityAuthority,
    CommitItem,
    Committed,
    HolderMismatch,
    IdempotencyConflict,
    Revoked,
)
from tests.installation.forgery import altered
from tests.installation.installation import Installation, Tenant
from tests.installation.processes import ServiceProcess
from tests.installation.storage import Storage
from tests.installation.team import Ready, Team, all_of, refused

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
    kept = [table for table in storage.tables() if table != "stream_nonce"]
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


async def test_i01_i02_whoever_does_not_hold_it_learns_nothing_by_any_road(
    team: Team,
    tenant: Tenant,
    installation: Installation,
    services: tuple[ServiceProcess, ...],
    storage: Storage,
) -> None:
    # Given a settled and a live capability of a victim, and forgeries of both by a colleague and by another tenant
    settled, live = await team.ready(), await team.ready()
    await team.commit(settled)
    stranger = await installation.tenant()
    kept = [table for table in storage.tables() if table != "stream_nonce"]
    before = storage.dump(*kept)
    for thief in (tenant["other-service"], stranger["service"]):
        genuine = [one.capability.statement for one in (settled, live)]
        forged = [altered(one, lambda _: None, thief.signing_key) for one in (settled, live)]
        items = [
            CommitItem(capability, content=content)
            for capability in (*genuine, *forged)
            for content in (settled.content, live.content, b"Another text.")
        ]
        answers: list[Committed | AuthorityError] = []
        async with CapabilityAuthority.connect(services[0].address, credentials=thief) as client:
            # When they are presented: alone, in a batch, and on a stream
            answers += [await refused(client.commit(it.capability, content=it.content), HolderMismatch) for it in items]
            answers += await client.commit_batch(items)
            answers += [one.outcome async for one in client.commit_stream(items)]
        # Then each is told that it is not the holder, and nothing else
        assert len(answers) == 3 * len(items)
        assert all(isinstance(answer, HolderMismatch) and not answer.metadata for answer in answers)
    assert storage.dump(*kept) == before
    assert not (await team.commit(live)).replayed


async def test_a_revoked_capability_commits_nothing_by_any_road(team: Team, storage: Storage) -> None:
    # Given three capabilities, of which one is revoked
    ready = [await team.ready() for _ in range(3)]
    await team.admin.revoke(ready[1].capability)
    receipts = storage.assert_whole().receipts
    for road in ROADS.values():
        # When all of them come by each road, then it alone is refused
        answers = (
            [await refused(team.commit(ready[1]), Revoked)] if road is _alone else await road(team, ready, TRACES[0])
        )
        assert [type(answer) for answer in answers] in ([Revoked], [Committed, Revoked, Committed])
    assert storage.assert_whole().receipts == receipts + 2
