"""The function that issues answers many offers as one that is asked one after the other, whatever they share."""

import asyncio
import datetime as dt
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from authority.domain.proposal import ProposalState
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.inprocess.capabilities import InProcessCapabilities
from authority.inprocess.tables import Head, KeptCapability, KeptReceipt, Tables
from authority.postgres.connections import Database, Power
from authority.postgres.gathering import Again
from authority.postgres.issuing_calls import IssueCall
from authority.postgres.offer_rows import offer_row
from authority.usecases.ports import IssuedCapability, Offer
from tests.integration.postgres.offers import LIFETIME_MS, offer_of
from tests.integration.postgres.superuser import Superuser
from tests.world.stores import ANY_CLOCK_MS
from tests.world.world import Issued, World, must

BATCHES, MOST = 120, 12
WORKERS, CALLS = 4, 40

Outcome = IssuedCapability | Refusal


@pytest.fixture
def call(world: World, databases: Mapping[Power, Database]) -> IssueCall:
    """The function as the service calls it."""
    bound = dt.timedelta(milliseconds=ANY_CLOCK_MS)
    return IssueCall(databases[Power.ISSUE], world.authority.reader, world.authority.clock, bound)


async def asked_once(call: IssueCall, offers: Sequence[Offer]) -> list[Outcome]:
    """The outcomes in order, by one call: nothing is in the way of anything."""
    outcomes = []
    for answer in await call.ask(offers):
        assert isinstance(answer, IssuedCapability | Refusal), answer
        outcomes.append(answer)
    return outcomes


async def test_processes_of_an_earlier_version_issue_as_before(
    world: World, databases: Mapping[Power, Database]
) -> None:
    # given an offer, sent by the arguments that the function had before it took traces
    offer = offer_of(world, await world.issued(), "k-old", "r-old")
    async with databases[Power.ISSUE].pool.acquire() as connection:
        row = await connection.fetchrow(
            "select outcome from authority.issue($1::authority.issue_offer[], $2, $3)",
            [offer_row(offer)],
            world.now(),
            dt.timedelta(milliseconds=ANY_CLOCK_MS),
        )
    # then it is answered as it was
    assert row is not None
    assert row["outcome"] == "issued"


# --- as if one after the other ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ground:
    """What batches are made of: capabilities to make others like, one of them consumed and one revoked."""

    free: Sequence[Issued]
    committed: Issued
    revoked: Issued

    def offers(self, world: World, dice: random.Random, round_: int) -> list[Offer]:
        """A batch in which request ids, keys and meanings meet in every way."""

        def one() -> Offer:
            refused = dice.random() < 0.2
            verdict = Refusal(dice.choice([Reason.POLICY_DENIED, Reason.NOT_VALIDATED])) if refused else None
            if dice.random() < 0.1:
                key = self.revoked.capability.terms.commit_idempotency_key
                return offer_of(world, self.revoked, key, f"batch-{dice.randrange(3)}", verdict=verdict)
            example = dice.choice([*self.free, self.committed])
            settled = self.committed.capability.terms.commit_idempotency_key
            key = dice.choice([f"a-{round_}", f"b-{round_}", f"c-{round_ // 4}", settled])
            request_id = f"batch-{dice.randrange(5)}-{round_ // 3}"
            return offer_of(world, example, key, request_id, verdict=verdict, meaning=str(verdict))

        return [one() for _ in range(dice.randint(1, MOST))]


async def ground_of(world: World) -> Ground:
    committed, _ = await world.committed(key="done")
    revoked = await world.issued(key="revoked")
    must(await world.revoke(revoked))
    return Ground([await world.issued() for _ in range(3)], committed, revoked)


async def dicts_like(world: World, ground: Ground) -> InProcessCapabilities:
    """Dicts that hold what the database does."""
    tables, tenant = Tables(), world.tenant
    for issued in (*ground.free, ground.committed, ground.revoked):
        terms = issued.capability.terms
        tables.heads[tenant, terms.proposal_id] = Head(1, ProposalState.VALIDATED)
        claim = world.plan(issued).claim
        state = "revoked" if issued is ground.revoked else "issued"
        tables.capabilities[tenant, terms.capability_id] = KeptCapability(issued.capability, claim, state)
    terms = ground.committed.capability.terms
    stored = must(await world.commit(ground.committed)).receipt
    claim = world.plan(ground.committed).claim
    tables.heads[tenant, terms.proposal_id] = Head(1, ProposalState.COMMITTED, stored.receipt_id)
    tables.receipts[tenant, stored.receipt_id] = KeptReceipt(
        stored, claim, terms.capability_id, terms.proposal_id, terms.memory_namespace
    )
    tables.capabilities[tenant, terms.capability_id] = KeptCapability(ground.committed.capability, claim, "consumed")
    return InProcessCapabilities(tables, world.authority.clock)


@pytest.mark.parametrize("seed", range(3))
async def test_i17_a_batch_is_answered_as_if_one_were_asked_after_the_other(
    world: World, call: IssueCall, superuser: Superuser, seed: int
) -> None:
    # given random batches, asked of dicts one after the other and of the database together
    dice, ground = random.Random(seed), await ground_of(world)  # noqa: S311 - the same batches in every run
    dicts, kinds = await dicts_like(world, ground), set()
    for round_ in range(BATCHES):
        if dice.random() < 0.15:
            world.authority.clock.advance(LIFETIME_MS)
        offers = ground.offers(world, dice, round_)
        expected = await dicts.issue(offers, deadline=0.0)
        # when they are answered, then the answers are the same
        assert await asked_once(call, offers) == expected
        kinds |= {
            tuple(answer.facts) if isinstance(answer, Refusal) else getattr(answer, "replayed", None)
            for answer in expected
        }
    assert kinds == {True, False, (), ("field",), ("receipt_id",), ("field", "problem")}

    # and so is what was kept: the request ids that were used, and one live capability for each key
    used = await superuser.fetch(
        "select principal, request_id from authority.request where tenant = $1 and request_id like 'batch-%'",
        str(world.tenant),
    )
    assert {(row["principal"], row["request_id"]) for row in used} == {
        (str(principal), request_id) for _, principal, request_id in dicts.tables.answers
    }
    kept = await superuser.fetch(
        "select capability_id::text, state from authority.capability where tenant = $1", str(world.tenant)
    )
    assert {(row["capability_id"], row["state"]) for row in kept} == {
        (capability_id, kept_.state) for (_, capability_id), kept_ in dicts.tables.capabilities.items()
    }
    assert await audited(superuser, world) == len(kept)


async def audited(superuser: Superuser, world: World) -> int:
    """How many events there are of capabilities issued."""
    count = await superuser.fetchval(
        "select count(*) from authority.audit_event where tenant = $1 and kind = 'capability.issue'", str(world.tenant)
    )
    assert isinstance(count, int)
    return count


# --- many at once -----------------------------------------------------------------------------------------------------


async def test_overlapping_calls_issue_one_capability_for_each_key_and_never_deadlock(
    world: World, call: IssueCall, superuser: Superuser
) -> None:
    # given workers whose batches share keys and request ids, in every order
    examples = [await world.issued() for _ in range(3)]

    async def hammer(number: int) -> list[tuple[Offer, Outcome]]:
        dice, answered = random.Random(number), []  # noqa: S311 - the same batches in every run
        for round_ in range(CALLS):
            keys = [f"k{dice.randrange(6)}-{round_ // 8}" for _ in range(MOST)]
            ids = [f"hammer-{dice.randrange(20)}-{round_ // 8}" for _ in range(MOST)]
            offers = [offer_of(world, dice.choice(examples), *names) for names in zip(keys, ids, strict=True)]
            answered += list(zip(offers, await persistently(call, offers), strict=True))
        return answered

    answers = [answer for worker in await asyncio.gather(*map(hammer, range(WORKERS))) for answer in worker]

    # then each key has one capability, and everybody who got one got that one
    got: dict[str, set[bytes]] = {}
    for offer, outcome in answers:
        if isinstance(outcome, IssuedCapability):
            got.setdefault(offer.claim.idempotency_key, set()).add(outcome.capability.digest)
            assert outcome.capability.terms.commit_idempotency_key == offer.claim.idempotency_key
        else:
            assert outcome.reason is Reason.IDEMPOTENCY_CONFLICT
    assert {len(digests) for digests in got.values()} == {1}
    stored = await superuser.fetch(
        "select idempotency_key, digest from authority.capability where tenant = $1 and idempotency_key like 'k_-%'",
        str(world.tenant),
    )
    assert sorted((row["idempotency_key"], row["digest"]) for row in stored) == sorted(
        (key, digest) for key, (digest,) in got.items()
    )
    assert sum(isinstance(it, IssuedCapability) and not it.replayed for _, it in answers) == len(stored)
    # and a request id stands for a request that was answered with a capability, and for no other
    used = await superuser.fetch(
        "select request_id, digest from authority.request where tenant = $1 and request_id like 'hammer-%'",
        str(world.tenant),
    )
    assert {(row["request_id"], row["digest"]) for row in used} == {
        (offer.mark.request_id, offer.mark.digest) for offer, it in answers if isinstance(it, IssuedCapability)
    }
    assert await audited(superuser, world) == len(stored) + len(examples)


async def persistently(call: IssueCall, offers: Sequence[Offer]) -> list[Outcome]:
    """The outcomes of offers that others may be in the way of."""
    outcomes: list[Outcome | None] = [None] * len(offers)
    while open_ := [index for index, outcome in enumerate(outcomes) if outcome is None]:
        for index, answer in zip(open_, await call.ask([offers[index] for index in open_]), strict=True):
            assert not isinstance(answer, Exception), answer
            outcomes[index] = None if isinstance(answer, Again) else answer
    return [outcome for outcome in outcomes if outcome is not None]
