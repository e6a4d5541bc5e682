"""The port `Decisions`: what every store keeps to."""

from dataclasses import dataclass, field

import pytest

from authority.domain.decision import DecisionFacts, DecisionOutcome, SignedDecision
from authority.domain.proposal import StoredProposal
from authority.domain.reasons import Reason
from authority.domain.references import PrincipalRef
from authority.domain.refusal import Refusal
from authority.policy.bundle import bundle_version, default_bundle
from authority.usecases.ports import Decisions
from tests.world.world import NAMESPACE, PERMIT_ALL, World, must, reason_of


@dataclass
class Looker:
    """Looks at the facts and refuses to decide."""

    facts: list[DecisionFacts] = field(default_factory=list)
    sequences: list[int] = field(default_factory=list)

    def __call__(self, facts: DecisionFacts, sequence: int) -> SignedDecision | Refusal:
        self.facts.append(facts)
        self.sequences.append(sequence)
        return Refusal(Reason.POLICY_DENIED)


@pytest.fixture
def decisions(world: World) -> Decisions:
    return world.authority.store.decisions


async def look(
    world: World, proposal: StoredProposal, *, revision: int = 0, holder: PrincipalRef | None = None
) -> DecisionFacts:
    """What policy would judge."""
    looker, mark = Looker(), world.mark(world.service, None)
    key = (proposal.revision.proposal_id, revision, holder or world.service.ref)
    await world.authority.store.decisions.decide(mark, *key, looker)
    return looker.facts[0]


async def test_policy_sees_the_stored_facts(world: World) -> None:
    proposal = await world.proposed()
    validation = must(await world.validate(proposal)).signed
    facts = await look(world, proposal)
    assert facts.proposal.revision == proposal.revision
    assert facts.proposal.content == proposal.content
    assert (facts.validation, facts.approvals, facts.is_newest_revision) == (validation, (), True)
    assert (facts.holder, facts.bundle) == (world.service.principal, default_bundle())
    assert facts.namespace == await world.authority.store.proposals.namespace(world.tenant, NAMESPACE)


async def test_policy_sees_the_newest_validation_of_that_revision_alone(world: World) -> None:
    # given a revision that was validated twice, and a newer one that was not
    first = await world.validated()
    newest = must(await world.validate(first)).signed
    second = await world.proposed(proposal_id=first.revision.proposal_id)

    # then the older one is judged by its newest, and known to be superseded; the newer one has none
    of_first, of_second = await look(world, first, revision=1), await look(world, second)
    assert (of_first.validation, of_first.is_newest_revision) == (newest, False)
    assert (of_second.validation, of_second.is_newest_revision) == (None, True)


async def test_policy_sees_no_holder_who_is_revoked_or_unknown(world: World) -> None:
    proposal = await world.validated()
    assert (await look(world, proposal, holder=PrincipalRef("test", "nobody"))).holder is None
    await world.authority.store.administration.revoke_principal(world.tenant, world.service.ref, world.now())
    assert (await look(world, proposal)).holder is None


async def test_the_active_bundle_judges(world: World) -> None:
    # given a namespace whose policy was changed, then the new one decides, and its version is bound
    proposal = await world.validated()
    version = await world.load(PERMIT_ALL)
    await world.authority.store.administration.activate_policy(world.tenant, NAMESPACE, version, world.now())
    facts = await look(world, proposal)
    assert (facts.bundle, facts.namespace.policy_version) == (PERMIT_ALL, bundle_version(PERMIT_ALL))
    assert must(await world.decide(proposal)).receipt.policy_version == version


async def test_each_decision_has_a_later_sequence_than_all_before(world: World, decisions: Decisions) -> None:
    # given decisions and a refusal to decide, of two tenants
    neighbour, looker = await world.neighbour(), Looker()
    sequences = [must(await world.decide(await world.validated())).receipt.sequence]
    await decisions.decide(
        world.mark(world.service, None), (await world.validated()).revision.proposal_id, 1, world.service.ref, looker
    )
    sequences += looker.sequences
    sequences.append(must(await neighbour.decide(await neighbour.validated())).receipt.sequence)

    # then each has a later place: there is one order
    assert sequences == sorted(set(sequences))


async def test_a_request_id_is_answered_with_the_same_bytes_and_nothing_is_decided_anew(
    world: World, decisions: Decisions
) -> None:
    # given a decision under a request id, and a policy changed since
    proposal = await world.validated()
    first = must(await world.decide(proposal, request_id="r"))
    version = await world.load(PERMIT_ALL)
    await world.authority.store.administration.activate_policy(world.tenant, NAMESPACE, version, world.now())
    assert must(await world.decide(proposal, request_id="r")) == first

    # and nobody is asked
    looker, key = Looker(), (proposal.revision.proposal_id, 1, world.service.ref)
    assert must(await decisions.decide(world.mark(world.service, "r", "decide", key), *key, looker)) == first
    assert looker.facts == []


async def test_a_request_id_used_for_another_request_is_a_conflict(world: World) -> None:
    must(await world.decide(await world.validated(), request_id="r"))
    refused = await world.decide(await world.validated(), request_id="r")
    assert refused == Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"})


async def test_a_refusal_to_decide_is_not_kept(world: World) -> None:
    # given a refusal of what was not validated yet, then the request id is free
    proposal = await world.proposed()
    assert reason_of(await world.decide(proposal, request_id="r")) is Reason.NOT_VALIDATED
    must(await world.validate(proposal))
    must(await world.decide(proposal, request_id="r"))


async def test_every_outcome_is_signed_and_kept(world: World) -> None:
    # given an outcome that asks for an approval, then its receipt is kept as one that allows would be
    proposal = await world.validated(by=world.agent)
    decision = must(await world.decide(proposal, request_id="r"))
    assert decision.receipt.outcome is DecisionOutcome.REQUIRE_APPROVAL
    assert must(await world.decide(proposal, request_id="r")) == decision


async def test_g02_what_is_another_tenants_or_nobodys_is_not_found(world: World) -> None:
    neighbour = await world.neighbour()
    theirs = await neighbour.validated()
    assert await world.decide(theirs) == Refusal(Reason.NOT_FOUND)
    nobodys = await world.validated()
    must(await world.decide(nobodys))
    looker, key = Looker(), (nobodys.revision.proposal_id, 2, world.service.ref)
    refused = await world.authority.store.decisions.decide(world.mark(world.service, None), *key, looker)
    assert (refused, looker.facts) == (Refusal(Reason.NOT_FOUND), [])
