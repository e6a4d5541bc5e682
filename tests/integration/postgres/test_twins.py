"""Many plans in one call of the commit function: one outcome each, and no twin is told of what nobody stored (I17)."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace

from authority.domain.plan import CommitPlan
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.postgres.connections import Database, Power
from authority.postgres.plan_rows import plan_row
from authority.postgres.sql import query
from tests.world.stores import ANY_CLOCK_MS, SOURCE
from tests.world.world import Issued, World, all_are, must


async def called(databases: Mapping[Power, Database], world: World, *plans: CommitPlan) -> list[tuple[str, str | None]]:
    """The outcome of each plan in one call: its word, and the receipt or the reason that answers."""
    bound = dt.timedelta(milliseconds=ANY_CLOCK_MS)
    rows = await databases[Power.COMMIT].pool.fetch(
        query("commit"), [plan_row(plan) for plan in plans], world.now(), bound, SOURCE
    )
    assert [row["ordinal"] for row in rows] == list(range(1, len(plans) + 1))
    return [(row["outcome"], row["reason"] or (row["receipt_id"] and str(row["receipt_id"]))) for row in rows]


async def on_one_proposal(world: World, number: int) -> Sequence[Issued]:
    """So many capabilities, each with its key, of one proposal."""
    ground = await world.allowed()
    return [await world.issued_on(ground) for _ in range(number)]


async def test_i17_two_capabilities_of_one_proposal(world: World, databases: Mapping[Power, Database]) -> None:
    one, other = (world.plan(issued) for issued in await on_one_proposal(world, 2))
    assert await called(databases, world, one, other) == [
        ("committed", one.receipt_id),
        ("refused", "ALREADY_COMMITTED"),
    ]
    assert await world.counts() == all_are(1)
    # and the twin stays what it was told
    assert await called(databases, world, other, one) == [
        ("refused", "ALREADY_COMMITTED"),
        ("replayed", one.receipt_id),
    ]


async def test_i17_one_key_twice(world: World, databases: Mapping[Power, Database]) -> None:
    issued = await world.issued()
    one, twin = world.plan(issued), world.plan(issued)
    assert await called(databases, world, one, twin) == [("committed", one.receipt_id), ("replayed", one.receipt_id)]
    assert await world.counts() == all_are(1)


async def test_i17_one_plan_twice(world: World, databases: Mapping[Power, Database]) -> None:
    # given a plan that is asked again in the call that asks it
    plan = world.plan(await world.issued())
    assert await called(databases, world, plan, plan) == [("committed", plan.receipt_id), ("replayed", plan.receipt_id)]
    assert await world.counts() == all_are(1)


async def test_i17_one_capability_under_two_keys(world: World, databases: Mapping[Power, Database]) -> None:
    # given a service that vouches for a key that the capability does not bind
    issued = await world.issued()
    one, twin = world.plan(issued), world.plan(issued, commit_idempotency_key="another")
    assert await called(databases, world, one, twin) == [
        ("committed", one.receipt_id),
        ("refused", "ALREADY_COMMITTED"),
    ]
    assert await world.counts() == all_are(1)


async def test_i17_one_key_for_two_requests(world: World, databases: Mapping[Power, Database]) -> None:
    first, second = await world.issued(), await world.issued()
    one = world.plan(first, commit_idempotency_key="k")
    other = world.plan(second, commit_idempotency_key="k")
    assert await called(databases, world, one, other) == [("committed", one.receipt_id), ("conflict", one.receipt_id)]
    assert await world.counts() == all_are(1)


async def test_i17_two_corrections_of_one_record(world: World, databases: Mapping[Power, Database]) -> None:
    # given two corrections of one record, of another, and what corrects nothing, in one call
    records = [(await world.committed())[1].receipt.record_id for _ in range(2)]
    one, twin, other = [
        world.plan(await world.issued_on(await world.allow(must(await world.correct(record_id)))))
        for record_id in (records[0], *records)
    ]
    plain = world.plan(await world.issued())
    assert await called(databases, world, one, twin, other, plain) == [
        ("committed", one.receipt_id),
        ("busy", None),
        ("committed", other.receipt_id),
        ("committed", plain.receipt_id),
    ]
    # then the twin, which is asked again, hears that nothing is left to correct
    assert await called(databases, world, twin, one) == [("refused", "NOT_VALIDATED"), ("replayed", one.receipt_id)]
    assert await world.counts() == all_are(5)


async def test_i17_a_twin_of_a_plan_that_lost_is_asked_again(world: World, databases: Mapping[Power, Database]) -> None:
    # given a second plan that loses its key to the first, and a third that would lose its proposal to the second
    first = await world.issued()
    second, third = await on_one_proposal(world, 2)
    plans = (
        world.plan(first, commit_idempotency_key="k"),
        world.plan(second, commit_idempotency_key="k"),
        world.plan(third),
    )

    # then the third is not told of a commit that is not there; asked again, it commits
    outcomes = await called(databases, world, *plans)
    assert [word for word, _ in outcomes] == ["committed", "conflict", "busy"]
    assert await called(databases, world, plans[2]) == [("committed", plans[2].receipt_id)]
    assert await world.counts() == all_are(2)


async def test_i17_a_refused_twin_takes_nothing_from_a_good_one(
    world: World, databases: Mapping[Power, Database]
) -> None:
    # given a refused plan in front of a good one of the same key
    issued = await world.issued()
    refused, good = world.plan(issued, verdict=Refusal(Reason.SIGNATURE_INVALID)), world.plan(issued)
    assert await called(databases, world, refused, good) == [
        ("refused", "SIGNATURE_INVALID"),
        ("committed", good.receipt_id),
    ]


async def test_i17_twins_of_two_tenants_are_no_twins(world: World, databases: Mapping[Power, Database]) -> None:
    neighbour = await world.neighbour()
    plans = [each.plan(await each.issued(key="k")) for each in (world, neighbour)]
    outcomes = await called(databases, world, *plans)
    assert outcomes == [("committed", plan.receipt_id) for plan in plans]
    assert await world.counts() == await neighbour.counts() == all_are(1)


async def test_a_batch_of_many_tenants_with_everything_in_it(world: World, databases: Mapping[Power, Database]) -> None:
    # given good plans of three tenants, and between them one of each kind that is not
    worlds = [world, await world.neighbour(), await world.neighbour()]
    good = [each.plan(await each.issued()) for each in worlds for _ in range(4)]
    settled = await world.issued()
    (receipt,) = await called(databases, world, world.plan(settled))
    unknown = await world.issued()
    terms = replace(unknown.capability.terms, capability_id=world.authority.ids.new())
    stranger = world.authority.signer.sign_capability(terms)
    others = [
        world.plan(settled),
        world.plan(settled, content_digest=bytes(32)),
        world.plan(replace(unknown, capability=stranger)),
        world.plan(await world.issued(), verdict=Refusal(Reason.EXPIRED)),
    ]
    mixed = [*good[:5], others[0], others[1], *good[5:9], others[2], *good[9:], others[3]]

    # when all are asked in one call, then each has its own outcome
    outcomes = dict(zip(map(id, mixed), await called(databases, world, *mixed), strict=True))
    assert [outcomes[id(plan)] for plan in good] == [("committed", plan.receipt_id) for plan in good]
    assert [outcomes[id(plan)] for plan in others] == [
        ("replayed", receipt[1]),
        ("conflict", receipt[1]),
        ("refused", "NOT_FOUND"),
        ("refused", "EXPIRED"),
    ]
    assert [(await each.counts()).records for each in worlds] == [5, 4, 4]


async def test_no_plan_no_outcome(world: World, databases: Mapping[Power, Database]) -> None:
    assert await called(databases, world) == []
