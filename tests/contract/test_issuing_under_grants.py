"""Capabilities under grants: whose right is used, what is spent along the chain, and what becomes of both."""

import asyncio
from collections.abc import Sequence

import pytest

from authority.domain.grant_use import Spent
from authority.domain.identity import PrincipalKind, Right
from authority.domain.proposal import Cost
from authority.domain.reasons import Reason
from authority.domain.references import MINUTE, SECOND, after
from authority.domain.refusal import Refusal
from authority.usecases.ports import IssuedCapability
from tests.world.granting import Granted, Granting
from tests.world.world import PERMIT_ALL, Allowed, Person, World, must, reason_of

USES = Refusal(Reason.BUDGET_EXHAUSTED, {"dimension": "uses"})


def exceeded(dimension: str) -> Refusal:
    return Refusal(Reason.GRANT_EXCEEDED, {"dimension": dimension})


@pytest.fixture
def granting(world: World) -> Granting:
    return Granting(world)


@pytest.fixture
async def broker(world: World) -> Person:
    """Issues for others, and has no right of its own."""
    return await world.register(PrincipalKind.SERVICE, "broker", frozenset())


@pytest.fixture
async def helper(world: World) -> Person:
    """Another one, to whom grants are handed on."""
    return await world.register(PrincipalKind.SERVICE, "helper", frozenset())


async def spent_of(granting: Granting, granted: Granted) -> Spent:
    return must(await granting.get(granted)).spent


async def grounds(world: World, number: int) -> Sequence[Allowed]:
    return [await world.allowed() for _ in range(number)]


# --- whose right it is ------------------------------------------------------------------------------------------------


async def test_a_grant_stands_for_the_right_that_its_holder_lacks(
    world: World, granting: Granting, broker: Person
) -> None:
    # given somebody who may not issue
    ground = await world.allowed()
    assert reason_of(await world.issue(ground, "k", by=broker)) is Reason.NOT_ALLOWED
    # when it issues under a grant, then the capability names the grant, and is committed like any other
    granted = await granting.issued(broker)
    issued = await granting.issued_under(granted, ground=ground)
    assert issued.capability.terms.grant_digest == granted.grant.digest
    must(await world.commit(issued))
    assert await spent_of(granting, granted) == Spent(uses=1)


async def test_a_grant_never_gives_what_its_subject_lacks(world: World, granting: Granting, broker: Person) -> None:
    # given grants in the name of somebody who may not issue, and of a user who may commit for itself alone
    ground = await world.allowed()
    owner = await world.register(PrincipalKind.USER, "owner", frozenset({Right.COMMIT}))
    granted = await granting.issued(broker, subject=owner.ref)
    for other in (await granting.issued(broker, subject=world.user.ref), granted):
        assert reason_of(await granting.issue_under(other, ground, "k")) is Reason.NOT_ALLOWED
    # when the one who may commit is to hold it, then it is issued
    own = await world.allowed(holder=owner)
    must(await granting.issue_under(granted, own, "k", capability_holder=owner))


async def test_i09_agents_and_models_issue_under_no_grant(world: World, granting: Granting) -> None:
    model = await world.register(PrincipalKind.MODEL, "model")
    ground = await world.allowed()
    for holder in (world.agent, model):
        granted = await granting.issued(holder)
        assert reason_of(await granting.issue_under(granted, ground, "k")) is Reason.NOT_ALLOWED


async def test_only_the_holder_uses_a_grant_by_the_key_that_it_binds(
    world: World, granting: Granting, broker: Person, helper: Person
) -> None:
    granted, ground = await granting.issued(broker), await world.allowed()
    stolen = await granting.issue_under(granted, ground, "k", by=helper)
    assert reason_of(stolen) is Reason.HOLDER_MISMATCH
    # also the grant of another tenant
    other = await world.neighbour()
    foreign = await Granting(other).issued(await other.register(PrincipalKind.SERVICE, "broker", frozenset()))
    assert reason_of(await granting.issue_under(foreign, ground, "k", by=broker)) is Reason.HOLDER_MISMATCH


# --- what it allows ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dimension", "narrow"),
    [
        ("audiences", ()),
        ("actions", ("memory.propose",)),
        ("actions", None),
        ("write_memory_namespaces", ("note", "notes/*")),
        ("uses", 0),
        ("concurrency", None),
        ("tokens", 99),
        ("usd_micros", 6),
    ],
)
async def test_e22_a_use_is_within_every_block(
    world: World, granting: Granting, broker: Person, helper: Person, dimension: str, narrow: object
) -> None:
    # given a proposal that has cost something, and a chain of which one block says too little
    ground = await world.allowed(costs=(Cost("draft", "m", input_tokens=60, output_tokens=40, usd_micros=7),))
    said = {dimension: narrow}
    root = await granting.issued(broker, **said)
    # when it is used, itself or through a child that can say no more, then the dimension is named
    assert await granting.issue_under(root, ground, "k") == exceeded(dimension)
    if narrow is not None:
        child = granting.delegated(root, helper)
        assert await granting.issue_under(child, ground, "k") == exceeded(dimension)
    # and nothing is spent, and nothing is met
    assert await spent_of(granting, root) == Spent()


async def test_a_grant_is_good_under_its_policy(world: World, granting: Granting, broker: Person) -> None:
    # given a grant under a policy that the memory namespace is not under
    granted = await granting.issued(broker, policy_version=await world.load(PERMIT_ALL))
    # then it allows nothing there
    assert reason_of(await granting.issue_under(granted, await world.allowed(), "k")) is Reason.POLICY_DENIED


async def test_a_capability_lives_no_longer_than_its_grant(world: World, granting: Granting, broker: Person) -> None:
    granted = await granting.issued(broker, lifetime_ms=MINUTE)
    issued = await granting.issued_under(granted)
    assert issued.capability.terms.expire_time == granted.grant.terms.expire_time
    # when the grant is over, then nothing is issued, and the capability commits nothing
    world.authority.clock.advance(MINUTE)
    assert reason_of(await granting.issue_under(granted, await world.allowed(), "k")) is Reason.EXPIRED
    assert reason_of(await world.commit(issued)) is Reason.EXPIRED


# --- what is spent ----------------------------------------------------------------------------------------------------


async def test_e22_children_together_spend_no_more_than_their_parent(
    world: World, granting: Granting, broker: Person, helper: Person
) -> None:
    # given a parent of ten uses, and two children of ten each
    root = await granting.issued(broker, uses=10)
    children = [await granting.exchanged(root, helper), granting.delegated(root, helper)]
    # when each spends eight
    outcomes = [
        await granting.issue_under(child, ground, f"{place}-{number}")
        for number, ground in enumerate(await grounds(world, 8))
        for place, child in enumerate(children)
    ]
    # then ten were issued, the rest had no uses left, and the counters say so
    assert sum(isinstance(outcome, IssuedCapability) for outcome in outcomes) == 10
    assert {repr(it) for it in outcomes if isinstance(it, Refusal)} == {repr(USES)}
    assert await spent_of(granting, root) == Spent(uses=10, live=10)
    assert sum([(await spent_of(granting, child)).uses for child in children]) == 10


async def test_e22_a_batch_spends_as_if_one_were_asked_after_the_other(
    world: World, granting: Granting, broker: Person, helper: Person
) -> None:
    # given two children of a parent that has fewer tokens than they want, and proposals of forty tokens each
    root = await granting.issued(broker, tokens=170)
    children = [await granting.exchanged(root, helper, tokens=90), await granting.exchanged(root, helper)]
    cost = Cost("draft", "m", input_tokens=30, output_tokens=10, usd_micros=1)
    cheap, dear = [await world.allowed(costs=(cost,)) for _ in range(8)], await world.allowed()
    wanted = [(children[number % 2], ground, f"k{number}") for number, ground in enumerate(cheap)]
    wanted.append((children[0], dear, "free"))
    # when all are asked for at once
    outcomes = must(await granting.issue_many_under(wanted, helper))
    # then four fit, two of each child, whatever is free fits too, and what did not fit was told why
    tokens = Refusal(Reason.BUDGET_EXHAUSTED, {"dimension": "tokens"})
    assert [isinstance(it, IssuedCapability) or it == tokens for it in outcomes] == [True] * 9
    assert [it == tokens for it in outcomes] == [False] * 4 + [True] * 4 + [False]
    assert await spent_of(granting, root) == Spent(uses=5, tokens=160, usd_micros=4, live=5)
    assert await spent_of(granting, children[0]) == Spent(uses=3, tokens=80, usd_micros=2, live=3)


async def test_what_is_found_is_free_and_nothing_is_refunded(world: World, granting: Granting, broker: Person) -> None:
    # given a capability, asked for again in every way
    granted, ground = await granting.issued(broker, uses=2), await world.allowed()
    first = must(await granting.issue_under(granted, ground, "k", request_id="r"))
    for request_id in ("r", "another"):
        again = must(await granting.issue_under(granted, ground, "k", request_id=request_id))
        assert (again.capability.digest, again.replayed) == (first.capability.digest, True)
    twins = must(await granting.issue_many_under([(granted, ground, "k")] * 3, broker))
    assert all(isinstance(it, IssuedCapability) and it.replayed for it in twins)
    assert (await spent_of(granting, granted)).uses == 1
    # when it has expired, then a new one costs another use
    world.authority.clock.advance(15 * MINUTE)
    must(await granting.issue_under(granted, ground, "k"))
    assert await spent_of(granting, granted) == Spent(uses=2, live=1)
    world.authority.clock.advance(15 * MINUTE)
    assert await granting.issue_under(granted, ground, "k") == USES
    # and what was refused has used nothing up
    more = await granting.issued(broker)
    must(await granting.issue_under(more, ground, "k"))


async def test_concurrency_counts_what_can_be_committed_still(
    world: World, granting: Granting, broker: Person, helper: Person
) -> None:
    # given a parent under which two may live, and a child
    root = await granting.issued(broker, concurrency=2)
    child = granting.delegated(root, helper)
    issued = [await granting.issued_under(it) for it in (root, child)]
    full = Refusal(Reason.BUDGET_EXHAUSTED, {"dimension": "concurrency"})
    ground = await world.allowed()
    assert await granting.issue_under(child, ground, "k") == full
    # when one is committed, revoked, or expires, then there is room for another
    must(await world.commit(issued[0]))
    issued.append(await granting.issued_under(child))
    assert await granting.issue_under(child, ground, "k") == full
    must(await world.revoke(issued[1]))
    await granting.issued_under(root)
    assert await granting.issue_under(child, ground, "k") == full
    world.authority.clock.advance(15 * MINUTE)
    must(await granting.issue_under(child, ground, "k"))


async def test_e22_budgets_hold_at_their_greatest(world: World, granting: Granting, broker: Person) -> None:
    most = 2**63 - 1
    granted = await granting.issued(broker, tokens=most, usd_micros=most)
    dear = Cost("draft", "m", input_tokens=most, output_tokens=most, usd_micros=most)
    must(await granting.issue_under(granted, await world.allowed(costs=(dear,)), "dear"))
    cheap = Cost("draft", "m", input_tokens=1, output_tokens=0, usd_micros=0)
    refused = await granting.issue_under(granted, await world.allowed(costs=(cheap,)), "cheap")
    assert refused == Refusal(Reason.BUDGET_EXHAUSTED, {"dimension": "tokens"})


async def test_e22_a_hundred_at_once_never_overspend(
    world: World, granting: Granting, broker: Person, helper: Person
) -> None:
    # given a parent of ten uses, two children of ten each, and a hundred who want one
    root = await granting.issued(broker, uses=10)
    children = [await granting.exchanged(root, helper), granting.delegated(root, helper)]
    ground = await grounds(world, 20)
    # when they ask at once
    outcomes = await asyncio.gather(
        *(granting.issue_under(children[number % 2], ground[number % 20], f"k{number}") for number in range(100))
    )
    # then ten got one
    assert sum(isinstance(outcome, IssuedCapability) for outcome in outcomes) == 10
    assert {reason_of(outcome) for outcome in outcomes} == {None, Reason.BUDGET_EXHAUSTED}
    assert await spent_of(granting, root) == Spent(uses=10, live=10)


# --- what is withdrawn ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("whose", ["subject", "actor", "holder"])
@pytest.mark.parametrize("what", ["principal", "key"])
async def test_i11_who_stands_behind_a_grant_is_asked_again_at_commit(
    world: World, granting: Granting, broker: Person, helper: Person, whose: str, what: str
) -> None:
    # given a capability under a grant that was handed on
    subject = await world.register(PrincipalKind.SERVICE, "subject")
    root = await granting.issued(broker, subject=subject.ref)
    child = granting.delegated(root, helper)
    issued = await granting.issued_under(child)
    # when the subject, or one of the holders, is withdrawn; or its key is
    person = {"subject": subject, "actor": broker, "holder": helper}[whose]
    administration = world.authority.store.administration
    if what == "principal":
        await administration.revoke_principal(world.tenant, person.ref, world.now())
    else:
        await administration.revoke_principal_key(world.tenant, person.key_id, world.now())
    # then neither is anything issued nor committed by it; the subject's key is no part of a grant
    expected = Reason.REVOKED if what == "principal" else Reason.KEY_REVOKED if whose != "subject" else None
    assert reason_of(await granting.issue_under(child, await world.allowed(), "k")) is expected
    assert reason_of(await world.commit(issued)) is expected


async def test_i11_a_batch_is_judged_by_the_grant_of_each(world: World, granting: Granting, broker: Person) -> None:
    # given capabilities of two grants and of none, and one of each grant that is committed already
    good, bad = await granting.issued(broker), await granting.issued(broker)
    settled = [await granting.issued_under(granted) for granted in (good, bad)]
    must(await world.commit_batch(settled))
    batch = [await granting.issued_under(granted) for granted in (bad, good, bad)]
    # when one grant is revoked, then what rests on it is refused, and nothing else; what was committed is found
    must(await granting.revoke(bad))
    answers = must(await world.commit_batch([*batch, await world.issued(), *settled]))
    assert [reason_of(answer) for answer in answers] == [Reason.REVOKED, None, Reason.REVOKED, None, None, None]
    assert [must(answer).replayed for answer in answers[4:]] == [True, True]


async def test_i11_a_withdrawn_grant_key_ends_what_it_signed(world: World, granting: Granting, broker: Person) -> None:
    granted = await granting.issued(broker)
    issued = await granting.issued_under(granted)
    await world.authority.store.administration.revoke_issuer_key(granted.grant.statement.key_id, None, world.now())
    assert reason_of(await world.commit(issued)) is Reason.KEY_REVOKED
    await world.authority.learn_keys()
    assert reason_of(await granting.issue_under(granted, await world.allowed(), "k")) is Reason.KEY_REVOKED


async def test_a_commit_replays_whatever_becomes_of_its_grant(world: World, granting: Granting, broker: Person) -> None:
    granted = await granting.issued(broker)
    issued = await granting.issued_under(granted)
    first = must(await world.commit(issued))
    must(await granting.revoke(granted))
    assert must(await world.commit(issued)).receipt == first.receipt


# --- what is forged ---------------------------------------------------------------------------------------------------


async def test_e17_a_chain_that_is_not_whole_issues_nothing(
    world: World, granting: Granting, broker: Person, helper: Person
) -> None:
    # given a chain of three, the last two made offline
    root = await granting.issued(broker)
    child = granting.delegated(root, helper)
    leaf = granting.delegated(child, broker)
    ground = await world.allowed()
    # when it comes without its middle, in another order, under another root, or twice, then it issues nothing
    other = await granting.issued(broker)
    bad = [
        ((*root.chain, leaf.grant), {Reason.GRANT_EXCEEDED, Reason.SIGNATURE_INVALID}),
        ((leaf.grant,), {Reason.GRANT_EXCEEDED, Reason.SIGNATURE_INVALID}),
        ((child.grant, root.grant, leaf.grant), {Reason.GRANT_EXCEEDED, Reason.SIGNATURE_INVALID}),
        ((other.grant, child.grant, leaf.grant), {Reason.GRANT_EXCEEDED}),
        ((*root.chain, child.grant, child.grant, leaf.grant), {Reason.GRANT_EXCEEDED, Reason.SIGNATURE_INVALID}),
    ]
    for chain, reasons in bad:
        outcome = await granting.issue_under(leaf, ground, "k", presented=Granted(chain, broker).presented)
        assert reason_of(outcome) in reasons, chain
    # and whole it does, as often as it is met
    for number in range(2):
        must(await granting.issue_under(leaf, await world.allowed(), f"k{number}"))
    assert (await spent_of(granting, leaf)).uses == 2
    world.authority.clock.advance(SECOND)
    assert after(root.grant.terms.not_before_time, SECOND) == world.now()
