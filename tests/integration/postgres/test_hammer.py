"""Many connections hammer the commit function with overlapping batches: no answer is wrong, and nothing deadlocks."""

import asyncio
import datetime as dt
import random
from collections.abc import Mapping, Sequence

import asyncpg
import pytest

from authority.domain.plan import CommitPlan
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.postgres.connections import Database, Power
from authority.postgres.faults import is_again_whole
from authority.postgres.plan_rows import plan_row
from authority.postgres.sql import query
from tests.world.stores import ANY_CLOCK_MS, SOURCE
from tests.world.world import World, all_are

WORKERS, CALLS, MOST = 4, 25, 16
"""So many workers make so many calls of up to so many plans each."""


Answer = tuple[CommitPlan, str, str | None, str | None]
"""A plan, and its outcome, reason and receipt id."""


async def plans_of(world: World, dice: random.Random) -> list[CommitPlan]:
    """Plans of few proposals: several capabilities of each, several plans of each capability, some refused."""
    plans = []
    for number in range(12):
        ground = await world.allowed()
        for _ in range(3):
            issued = await world.issued_on(ground)
            shared_key = f"shared-{number % 4}"
            plans += [world.plan(issued), world.plan(issued), world.plan(issued, commit_idempotency_key=shared_key)]
            plans.append(world.plan(issued, verdict=Refusal(dice.choice([Reason.EXPIRED, Reason.SIGNATURE_INVALID]))))
    return plans


async def hammer(
    database: Database, world: World, plans: Sequence[CommitPlan], dice: random.Random, answers: list[Answer]
) -> None:
    bound = dt.timedelta(milliseconds=ANY_CLOCK_MS)
    for _ in range(CALLS):
        asked = [dice.choice(plans) for _ in range(dice.randint(1, MOST))]
        try:
            rows = await database.pool.fetch(
                query("commit"), [plan_row(plan) for plan in asked], world.now(), bound, SOURCE
            )
        except asyncpg.PostgresError as error:
            if not is_again_whole(error):
                raise
            continue
        for plan, row in zip(asked, rows, strict=True):
            receipt = row["receipt_id"] and str(row["receipt_id"])
            answers.append((plan, row["outcome"], row["reason"], receipt))


@pytest.mark.parametrize("seed", range(3))
async def test_hammered_with_overlapping_batches_every_answer_is_true(
    world: World, databases: Mapping[Power, Database], seed: int
) -> None:
    # given few proposals and many plans that contend for them
    dice = random.Random(seed)  # noqa: S311 - the same plans in every run
    plans = await plans_of(world, dice)
    answers: list[Answer] = []

    # when several connections ask for random batches of them
    workers = [random.Random(f"{seed}.{number}") for number in range(WORKERS)]  # noqa: S311 - as above
    await asyncio.gather(*(hammer(databases[Power.COMMIT], world, plans, worker, answers) for worker in workers))

    # then whatever was answered is what is stored
    receipts = world.authority.store.receipts
    committed: dict[str, CommitPlan] = {}
    for plan, outcome, reason, receipt_id in answers:
        claim = plan.claim
        settled = await receipts.by_key(claim.tenant, claim.holder, claim.idempotency_key)
        if outcome in {"committed", "replayed"}:
            assert settled
            assert (settled.receipt_id, settled.fingerprint) == (receipt_id, claim.fingerprint)
        if outcome == "committed":
            assert receipt_id == plan.receipt_id
            assert receipt_id not in committed, "committed twice"
            committed[plan.receipt_id] = plan
        if outcome == "conflict":
            assert settled
            assert settled.receipt_id == receipt_id
            assert settled.fingerprint != claim.fingerprint
        if reason == "ALREADY_COMMITTED":
            assert receipt_id
            assert await receipts.by_receipt(claim.tenant, receipt_id)
        elif outcome == "refused":
            assert plan.refusal
            assert reason == plan.refusal.reason.name
        assert outcome in {"committed", "replayed", "conflict", "busy", "refused"}

    # and there is one commit of each proposal, one of each key, and the four counts agree
    proposals = [plan.capability.terms.proposal_id for plan in committed.values()]
    keys = [plan.claim.idempotency_key for plan in committed.values()]
    assert len(set(proposals)) == len(proposals) == len(set(keys))
    assert await world.counts() == all_are(len(committed))
    assert len(answers) > WORKERS * CALLS
    assert len(committed) > 6
