"""Recall under a grant: with the eyes of its subject, and across tenants as figures alone (semantics §6, §8)."""

from collections.abc import Sequence
from typing import Any

import pytest

from authority.domain.aggregate import AggregateCount
from authority.domain.identity import PrincipalKind, Right
from authority.domain.proposal import Visibility
from authority.domain.reasons import Reason
from authority.domain.recall import RecallQuery
from authority.domain.references import DAY
from authority.domain.refusal import Refusal
from authority.usecases.grants.read_under import Presented
from authority.usecases.paging import PageRequest
from authority.usecases.recall_aggregate import AggregateRequest
from authority.usecases.recall_records import RecallRequest
from tests.contract.test_aggregates import others
from tests.contract.test_recall import recorded
from tests.world.aggregating import aggregated
from tests.world.granting import Granted, Granting
from tests.world.membership import CREW, for_scope, join, leave
from tests.world.world import NAMESPACE, Person, World, must, reason_of

RECALL: dict[str, Any] = {"actions": ("memory.recall",), "lifetime_ms": 2 * DAY}
TO_COUNT: dict[str, Any] = RECALL | {"resources": ("aggregate/trends",)}


def presented(world: World, granted: Granted | None, by: Person) -> Presented | None:
    return None if granted is None else Presented(granted.presented, world.mark(by, "", "recall"))


async def recalled(world: World, granted: Granted | None, by: Person, text: str = "tea") -> list[str] | Refusal:
    """The ids of what this person finds under the grant, or by its own right."""
    query = RecallQuery(memory_namespace=NAMESPACE, text=text)
    request = RecallRequest(query, PageRequest(9, ""), "", presented(world, granted, by))
    page = await world.authority.do.recall(by.calls(), request)
    return page if isinstance(page, Refusal) else [hit.record.record_id for hit in page.items]


async def figures(
    world: World, granted: Granted | None, by: Person, name: str = "trends", namespace: str = NAMESPACE
) -> Sequence[AggregateCount] | Refusal:
    """What this person is told of the aggregate."""
    request = AggregateRequest(name, namespace, presented(world, granted, by))
    return await world.authority.do.recall_aggregate(by.calls(), request)


async def test_who_recalls_under_a_grant_finds_what_its_subject_is_shown(world: World) -> None:
    # given a user's private and its crew's records, and an observer, who may not read, with a grant of the user's
    await join(world, world.user, CREW)
    own = await recorded(world, "tea alone", visibility=Visibility.PRIVATE)
    crews = await recorded(world, "tea together", **for_scope(CREW))
    granted = await Granting(world).issued(world.observer, subject=world.user.ref, **RECALL)
    assert reason_of(await recalled(world, None, world.observer)) is Reason.NOT_ALLOWED
    assert set(must(await recalled(world, granted, world.observer))) == {own, crews}
    # when the user leaves the crew, then its records are gone for the grant at once
    await leave(world, world.user, CREW)
    assert await recalled(world, granted, world.observer) == [own]
    # and the grant is its holder's alone, for what it says, until it is revoked
    assert reason_of(await recalled(world, granted, world.agent)) is Reason.HOLDER_MISMATCH
    must(await Granting(world).revoke(granted))
    assert reason_of(await recalled(world, granted, world.observer)) is Reason.REVOKED


@pytest.mark.parametrize(
    ("said", "dimension"),
    [
        ({"actions": ("memory.propose",)}, "actions"),
        ({"actions": ()}, "actions"),
        ({"audiences": ("elsewhere",)}, "audiences"),
        ({"read_memory_namespaces": ("ledger",)}, "read_memory_namespaces"),
        ({"read_memory_namespaces": ()}, "read_memory_namespaces"),
        ({"uses": 0}, "uses"),
    ],
)
async def test_a_recall_is_within_every_dimension_of_its_grant(
    world: World, said: dict[str, object], dimension: str
) -> None:
    granted = await Granting(world).issued(world.observer, subject=world.user.ref, **(RECALL | said))
    refused = await recalled(world, granted, world.observer)
    assert isinstance(refused, Refusal)
    assert (refused.reason, refused.facts["dimension"]) == (Reason.GRANT_EXCEEDED, dimension)


async def test_a_grant_gives_no_reading_that_its_subject_lacks(world: World) -> None:
    granted = await Granting(world).issued(world.agent, subject=world.observer.ref, **RECALL)
    assert reason_of(await recalled(world, granted, world.agent)) is Reason.NOT_ALLOWED


async def test_adr328_05_across_tenants_there_are_figures_by_a_grant_and_nothing_else(world: World) -> None:
    # given an aggregate over three neighbours, and a grant for it
    neighbours = await others(world, 4, 4, 4)
    await aggregated(world, "trends", *(other.tenant for other in neighbours))
    world.authority.clock.advance(40 * DAY)
    granted = await Granting(world).issued(world.agent, subject=world.user.ref, **TO_COUNT)
    # then its holder is told figures, and by nothing else is anybody: no right, no other grant, no other tenant's grant
    (figure,) = must(await figures(world, granted, world.agent))
    assert figure.records == 10
    for person in (world.agent, world.user, world.admin, world.service):
        assert reason_of(await figures(world, None, person)) is Reason.NOT_ALLOWED
    without = await Granting(world).issued(world.agent, subject=world.user.ref, **RECALL)
    wrong = await Granting(world).issued(world.agent, subject=world.user.ref, **(RECALL | {"resources": ("trends",)}))
    for refused in (without, wrong):
        assert reason_of(await figures(world, refused, world.agent)) is Reason.GRANT_EXCEEDED
    assert reason_of(await figures(world, granted, world.user)) is Reason.HOLDER_MISMATCH
    # and under that grant, its own tenant's records are found as ever, nobody else's
    assert await recalled(world, granted, world.agent, "fact") == []
    for other in neighbours:
        theirs = await Granting(other).issued(other.agent, subject=other.user.ref, **TO_COUNT)
        assert reason_of(await figures(other, theirs, other.agent)) is Reason.NOT_FOUND
        assert reason_of(await figures(world, theirs, world.agent)) is Reason.HOLDER_MISMATCH


async def test_adr328_05_a_wide_grant_makes_no_aggregate(world: World) -> None:
    # given a grant for every aggregate, then only what an operator made and did not remove is told
    granted = await Granting(world).issued(
        world.agent, subject=world.user.ref, **(RECALL | {"resources": ("aggregate/*",)})
    )
    for name in ("trends", "all"):
        assert reason_of(await figures(world, granted, world.agent, name)) is Reason.NOT_FOUND
    assert reason_of(await figures(world, granted, world.agent, namespace="ledger")) is Reason.GRANT_EXCEEDED
    await aggregated(world)
    assert must(await figures(world, granted, world.agent)) == []
    await world.authority.store.aggregate_administration.remove_aggregate(world.tenant, "trends", world.now())
    assert reason_of(await figures(world, granted, world.agent)) is Reason.NOT_FOUND


async def test_the_subject_of_an_aggregates_grant_must_read_itself(world: World) -> None:
    await aggregated(world)
    mute = await world.register(PrincipalKind.USER, "mute", frozenset({Right.PROPOSE}))
    granted = await Granting(world).issued(world.agent, subject=mute.ref, **TO_COUNT)
    assert reason_of(await figures(world, granted, world.agent)) is Reason.NOT_ALLOWED
