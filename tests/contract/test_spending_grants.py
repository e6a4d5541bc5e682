"""Proposing and reading under grants: each use is spent along the chain, in the ledger of what is issued (case E22)."""

import asyncio
from typing import Any

import pytest

from authority.domain.grant_use import GrantUse, Spent
from authority.domain.identity import PrincipalKind
from authority.domain.proposal import Cost, StoredProposal
from authority.domain.reasons import Reason
from authority.domain.references import DAY
from authority.domain.refusal import Refusal
from authority.usecases.ports import Spend
from tests.contract.test_issuing_under_grants import exceeded, spent_of
from tests.contract.test_recall import recorded
from tests.contract.test_recall_under_grants import figures, recalled
from tests.world.aggregating import aggregated
from tests.world.authority import HERE
from tests.world.evidence import approved, digest_of, read
from tests.world.granting import Granted, Granting
from tests.world.world import Person, World, must, reason_of

USED_FOR: dict[str, Any] = {
    "actions": ("memory.propose", "memory.recall", "evidence.read", "memory.commit-validated"),
    "resources": ("evidence/*", "aggregate/*"),
    "lifetime_ms": 2 * DAY,
}
DEAR = Cost("draft", "m", input_tokens=30, output_tokens=10, usd_micros=3)


def exhausted(dimension: str) -> Refusal:
    return Refusal(Reason.BUDGET_EXHAUSTED, {"dimension": dimension})


@pytest.fixture
def granting(world: World) -> Granting:
    return Granting(world)


@pytest.fixture
async def helper(world: World) -> Person:
    """Has no right of its own."""
    return await world.register(PrincipalKind.AGENT, "helper", frozenset())


async def handed_on(world: World, granting: Granting, helper: Person, **said: Any) -> tuple[Granted, Granted]:
    """A root of the user's that the agent holds, and a child of it that the authority has not met."""
    root = await granting.issued(world.agent, subject=world.user.ref, **(USED_FOR | said))
    return root, granting.delegated(root, helper)


async def propose(world: World, granted: Granted, **said: Any) -> StoredProposal | Refusal:
    """CreateProposal under the grant, by its holder."""
    return await world.propose(by=granted.holder, grant=granted.presented, **said)


# --- proposing --------------------------------------------------------------------------------------------------------


async def test_e22_a_proposal_spends_a_use_and_what_it_cost_along_the_chain(
    world: World, granting: Granting, helper: Person
) -> None:
    # given a chain with tokens for two proposals of forty
    root, child = await handed_on(world, granting, helper, tokens=99)
    # when the child proposes, and the root, then each is spent of itself and its ancestors
    must(await propose(world, child, costs=(DEAR,)))
    must(await propose(world, root, costs=(DEAR,)))
    assert await spent_of(granting, root) == Spent(uses=2, tokens=80, usd_micros=6)
    assert await spent_of(granting, child) == Spent(uses=1, tokens=40, usd_micros=3)
    # and what is too dear is refused, and spends nothing; what is free is not
    assert await propose(world, child, costs=(DEAR,)) == exhausted("tokens")
    must(await propose(world, child))
    assert await spent_of(granting, root) == Spent(uses=3, tokens=80, usd_micros=6)


async def test_e22_a_grant_of_one_use_proposes_once_and_its_retry_is_free(
    world: World, granting: Granting, helper: Person
) -> None:
    root, child = await handed_on(world, granting, helper, uses=1)
    first = must(await propose(world, child, content=b"tea", request_id="r"))
    # when the same request comes again, then it is answered for nothing, and another is not kept at all
    assert must(await propose(world, child, content=b"tea", request_id="r")) == first
    assert await propose(world, child, content=b"milk", request_id="s") == exhausted("uses")
    assert await propose(world, root) == exhausted("uses")
    assert await spent_of(granting, root) == Spent(uses=1)
    # and the request id of what was refused is free
    more = await granting.issued(helper, subject=world.user.ref, **USED_FOR)
    must(await propose(world, more, content=b"milk", request_id="s"))


async def test_a_proposal_that_is_refused_spends_nothing(world: World, granting: Granting, helper: Person) -> None:
    root, child = await handed_on(world, granting, helper)
    first = must(await propose(world, child))
    follow: dict[str, Any] = {"proposal_id": first.revision.proposal_id}
    must(await propose(world, child, **follow))
    before = await spent_of(granting, root)
    assert before == Spent(uses=2)
    for said, reason in (
        ({"memory_namespace": "nowhere"}, Reason.GRANT_EXCEEDED),
        ({"proposal_id": world.authority.ids.new()}, Reason.NOT_FOUND),
        ({"validator_profile": "none"}, Reason.MALFORMED),
    ):
        refused: dict[str, Any] = said
        assert reason_of(await propose(world, child, **refused)) is reason
    # and so does one that lost the race for its place, when the store is asked itself
    stray = await world.authority.store.proposals.create(
        world.mark(helper, None), first, Spend(child.grant.digest, tokens=1)
    )
    assert reason_of(stray) is Reason.CONTENTION
    assert await spent_of(granting, root) == before


# --- reading ----------------------------------------------------------------------------------------------------------


async def test_e22_every_read_is_a_use_whatever_it_finds(world: World, granting: Granting, helper: Person) -> None:
    # given a chain of four uses, a record, evidence, and figures
    root, child = await handed_on(world, granting, helper, uses=4)
    record, evidence = await recorded(world, "tea"), await approved(world, b"a log")
    await aggregated(world)
    # when each is read, and something that is not there
    assert await recalled(world, child, helper) == [record]
    must(await read(world, evidence.digest, helper, grant=child.presented))
    assert reason_of(await read(world, digest_of(b"none"), helper, grant=child.presented)) is Reason.NOT_FOUND
    must(await figures(world, child, helper))
    # then that was all, for whoever reads and by whatever
    assert await spent_of(granting, root) == await spent_of(granting, child) == Spent(uses=4)
    for refused in (
        await recalled(world, child, helper),
        await recalled(world, root, world.agent),
        await read(world, evidence.digest, helper, grant=child.presented),
        await figures(world, child, helper),
        await propose(world, root),
    ):
        assert refused == exhausted("uses")


async def test_a_read_that_its_grant_does_not_allow_spends_nothing(
    world: World, granting: Granting, helper: Person
) -> None:
    root, child = await handed_on(world, granting, helper, actions=("memory.recall",), resources=())
    evidence = await approved(world, b"a log")
    assert await read(world, evidence.digest, helper, grant=child.presented) == exceeded("actions")
    assert await figures(world, child, helper) == exceeded("resources")
    assert reason_of(await recalled(world, child, world.agent)) is Reason.HOLDER_MISMATCH
    assert await spent_of(granting, root) == Spent()


@pytest.mark.parametrize("whose", ["grant", "holder", "key"])
async def test_i11_nothing_is_spent_of_what_was_withdrawn_since_it_was_judged(
    world: World, granting: Granting, helper: Person, whose: str
) -> None:
    # given a chain that was used, and so is kept
    root, child = await handed_on(world, granting, helper)
    must(await recalled(world, child, helper))
    grants, administration = world.authority.store.grants, world.authority.store.administration
    # when it is withdrawn while a read that was judged before is under way, then the store spends nothing
    if whose == "grant":
        must(await granting.revoke(root))
    elif whose == "holder":
        await administration.revoke_principal(world.tenant, world.agent.ref, world.now())
    else:
        await administration.revoke_principal_key(world.tenant, world.agent.key_id, world.now())
    refused = await grants.spend(world.tenant, "memory.recall", Spend(child.grant.digest), world.now())
    assert reason_of(refused) is (Reason.KEY_REVOKED if whose == "key" else Reason.REVOKED)
    assert await grants.spent(world.tenant, [root.grant.digest, bytes(32)], world.now()) == (Spent(uses=1), Spent())


# --- all of them ------------------------------------------------------------------------------------------------------


async def test_e22_a_hundred_who_propose_read_and_issue_at_once_never_overspend(
    world: World, granting: Granting, helper: Person
) -> None:
    # given a root of ten uses, three children of as many, one of them for a service that issues by it, and evidence
    root = await granting.issued(world.agent, subject=world.service.ref, **(USED_FOR | {"uses": 10}))
    children = [await granting.exchanged(root, helper), granting.delegated(root, helper)]
    broker = await world.register(PrincipalKind.SERVICE, "broker", frozenset())
    issuing = await granting.exchanged(root, broker)
    evidence, grounds = await approved(world, b"a log"), [await world.allowed() for _ in range(5)]
    # when a hundred ask at once
    outcomes = await asyncio.gather(
        *(propose(world, children[number % 2]) for number in range(45)),
        *(read(world, evidence.digest, helper, grant=children[number % 2].presented) for number in range(50)),
        *(granting.issue_under(issuing, ground, f"k{number}") for number, ground in enumerate(grounds)),
    )
    # then ten got what they asked for, and the rest were told why not
    assert sum(not isinstance(outcome, Refusal) for outcome in outcomes) == 10
    assert {repr(it) for it in outcomes if isinstance(it, Refusal)} == {repr(exhausted("uses"))}
    assert (await spent_of(granting, root)).uses == 10
    assert sum([(await spent_of(granting, child)).uses for child in (*children, issuing)]) == 10


async def test_e22_what_is_used_up_is_told_to_whoever_verifies(
    world: World, granting: Granting, helper: Person
) -> None:
    # given a chain of two uses and fifty tokens, and one that allows nothing
    root, child = await handed_on(world, granting, helper, uses=2, tokens=50)
    use = GrantUse(action="memory.propose", audience=HERE.audience, write_memory_namespace="notes", tokens=40)
    assert await granting.verify(child, use) is None
    # when forty tokens are spent, then a use that needs as many is refused, and the chain itself holds
    must(await propose(world, child, costs=(DEAR,)))
    assert await granting.verify(child, use) == exhausted("tokens")
    assert await granting.verify(child) is None
    # when the root's other use is spent, too, then nothing is left for the child that was used once
    must(await propose(world, root))
    for asked in (None, use):
        assert await granting.verify(child, asked) == exhausted("uses")
    assert await granting.verify(child, GrantUse(action="memory.forget", audience=HERE.audience)) == exceeded("actions")
    assert await granting.verify(await granting.issued(helper, uses=0)) is None
    assert await spent_of(granting, root) == Spent(uses=2, tokens=40, usd_micros=3)


async def test_e22_capabilities_that_live_are_told_to_whoever_verifies(world: World, granting: Granting) -> None:
    granted = await granting.issued(world.service, concurrency=1)
    use = GrantUse(
        action="memory.commit-validated", audience=HERE.audience, write_memory_namespace="notes", concurrency=1
    )
    issued = await granting.issued_under(granted)
    assert await granting.verify(granted, use) == exhausted("concurrency")
    must(await world.commit(issued))
    assert await granting.verify(granted, use) is None
