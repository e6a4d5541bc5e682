"""The function that issues spends as if one offer were asked after the other, whatever grants and keys they share."""

import datetime as dt
import random
from collections.abc import Mapping, Sequence

import pytest

from authority.domain.proposal import ProposalState
from authority.domain.refusal import Refusal
from authority.inprocess.capabilities import InProcessCapabilities
from authority.inprocess.grants import spent
from authority.inprocess.tables import Head, KeptKey, KeptPrincipal, Tables
from authority.postgres.connections import Database, Power
from authority.postgres.issuing_calls import IssueCall
from authority.usecases.ports import KeptGrant, Offer, Spend
from tests.integration.postgres.offers import LIFETIME_MS, offer_of
from tests.world.granting import Granted, Granting
from tests.world.stores import ANY_CLOCK_MS
from tests.world.world import Issued, World

ROUNDS, MOST = 60, 10


async def forest(world: World) -> Sequence[Granted]:
    """A root with children and a grandchild, each with some budget of its own, kept; and another root."""
    granting, holder = Granting(world), world.service
    root = await granting.issued(holder, uses=120, tokens=300, concurrency=14)
    left = await granting.exchanged(root, holder, tokens=90, concurrency=8)
    right = await granting.exchanged(root, holder, uses=70, usd_micros=60)
    deep = await granting.exchanged(left, holder, uses=30)
    return [root, left, right, deep, await granting.issued(holder, uses=25)]


def dicts_like(world: World, examples: Sequence[Issued], grants: Sequence[Granted]) -> InProcessCapabilities:
    """Dicts that hold what the database does of this."""
    tables = Tables()
    for issued in examples:
        tables.heads[world.tenant, issued.capability.terms.proposal_id] = Head(1, ProposalState.VALIDATED)
    for person in (world.service, world.admin):
        tables.principals[world.tenant, person.ref] = KeptPrincipal(person.principal, is_active=True)
        tables.keys[world.tenant, person.key_id] = KeptKey(person.ref, person.key.public_key.raw, is_active=True)
    blocks = [block for granted in grants for block in granted.chain]
    tables.grants.update({(world.tenant, block.digest): KeptGrant(block, None) for block in blocks})
    return InProcessCapabilities(tables, world.authority.clock)


def batch(world: World, dice: random.Random, examples: Sequence[Issued], grants: Sequence[Granted]) -> list[Offer]:
    """Offers that meet at keys, request ids and grants, with costs."""

    def one() -> Offer:
        spend = Spend(dice.choice(grants).grant.digest, dice.randrange(9), dice.randrange(3))
        number = dice.randrange(200)
        request_id = f"batch-{number}-{dice.randrange(2)}"
        return offer_of(world, dice.choice(examples), f"k-{number}", request_id, spend=spend if number % 7 else None)

    return [one() for _ in range(dice.randint(1, MOST))]


@pytest.mark.parametrize("seed", range(2))
async def test_e22_a_batch_under_grants_is_answered_as_if_one_were_asked_after_the_other(
    world: World, databases: Mapping[Power, Database], seed: int
) -> None:
    # given random batches, asked of dicts one after the other and of the database together
    call = IssueCall(
        databases[Power.ISSUE],
        world.authority.reader,
        world.authority.clock,
        dt.timedelta(milliseconds=ANY_CLOCK_MS),
    )
    grants, examples = await forest(world), [await world.issued() for _ in range(2)]
    dice, dicts = random.Random(seed), dicts_like(world, examples, grants)  # noqa: S311 - the same in every run
    seen: set[str] = set()
    for _ in range(ROUNDS):
        if dice.random() < 0.2:
            world.authority.clock.advance(LIFETIME_MS)
        offers = batch(world, dice, examples, grants)
        expected = await dicts.issue(offers, deadline=0.0)
        # when they are answered, then the answers are the same
        assert await call.ask(offers) == expected
        for answer in expected:
            seen.add(answer.facts.get("dimension", "") if isinstance(answer, Refusal) else "issued")
    # and so are the sums, of every grant
    now = world.now()
    for granted in grants:
        kept = await world.authority.store.grants.spent(world.tenant, [granted.grant.digest], now)
        assert kept == (spent(dicts.tables, world.tenant, granted.grant.digest, now),)
    assert {"issued", "uses", "tokens", "concurrency"} <= seen
