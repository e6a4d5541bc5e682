"""The port `Capabilities`: what every store keeps to."""

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from authority.domain import limits
from authority.domain.identity import PrincipalKind, Right
from authority.domain.issuing import IssuingFacts, IssuingQuestion
from authority.domain.reasons import Reason
from authority.domain.references import PrincipalRef
from authority.domain.refusal import Refusal
from authority.usecases.ports import Capabilities, CapabilityFate
from tests.world.world import NAMESPACE, PERMIT_ALL, WITHIN_S, Allowed, Issued, Person, World, must, reason_of, soon

LIFETIME_MS = limits.CAPABILITY_LIFETIME_DEFAULT_MS


@pytest.fixture
def capabilities(world: World) -> Capabilities:
    return world.authority.store.capabilities


async def change_policy(world: World) -> None:
    """Another bundle becomes active: what was decided before can be neither issued nor committed."""
    version = await world.load(PERMIT_ALL)
    await world.authority.store.administration.activate_policy(world.tenant, NAMESPACE, version, world.now())


# --- issuing ---------------------------------------------------------------------------------------------------------


async def test_an_offer_is_kept_and_answered_with_the_same_bytes_ever_after(world: World) -> None:
    # given a capability issued under a key
    ground = await world.allowed()
    first = must(await world.issue(ground, "k"))
    assert not first.replayed

    # when it is asked for again, by the same and by another request, then it is the one
    for _ in range(2):
        again = must(await world.issue(ground, "k"))
        assert again.replayed
        assert again.capability == first.capability


async def test_the_same_request_again_is_answered_with_the_live_capability(world: World) -> None:
    ground = await world.allowed()
    first = must(await world.issue(ground, "k", request_id="r"))
    assert must(await world.issue(ground, "k", request_id="r")).capability == first.capability


async def test_d14_a_renewed_decision_has_the_same_fingerprint_and_so_the_same_capability(world: World) -> None:
    # given a capability, and a newer decision and validation on the same revision
    ground = await world.allowed()
    first = must(await world.issue(ground, "k"))
    renewed = await world.allow(ground.proposal)
    assert renewed.decision.digest != ground.decision.digest

    # when the key is asked for on the new ground, then the live capability answers
    assert must(await world.issue(renewed, "k")).capability == first.capability


async def test_a_live_capability_answers_before_the_refusal_that_a_new_one_would_meet(world: World) -> None:
    ground = await world.allowed()
    first = must(await world.issue(ground, "k"))
    await change_policy(world)
    assert must(await world.issue(ground, "k")).capability == first.capability
    assert reason_of(await world.issue(ground, "another")) is Reason.POLICY_DENIED


async def test_a_refused_offer_leaves_nothing_behind(world: World) -> None:
    # given an offer refused because policy changed
    ground = await world.allowed()
    await change_policy(world)
    assert reason_of(await world.issue(ground, "k", request_id="r")) is Reason.POLICY_DENIED

    # then neither its request id nor its key is used up
    renewed = await world.allow(ground.proposal)
    assert not must(await world.issue(renewed, "k", request_id="r")).replayed


async def test_an_expired_capability_gives_way_to_a_new_one_even_under_its_request_id(world: World) -> None:
    # given a capability that lives for its lifetime and no longer
    ground = await world.allowed()
    first = must(await world.issue(ground, "k", request_id="r"))
    world.authority.clock.advance(LIFETIME_MS - 1)
    assert must(await world.issue(ground, "k", request_id="r")).capability == first.capability

    # when it expires, then the same request gets a new one, which the next one gets too
    world.authority.clock.advance(1)
    second = must(await world.issue(ground, "k", request_id="r"))
    assert not second.replayed
    assert second.capability.terms.capability_id != first.capability.terms.capability_id
    assert must(await world.issue(ground, "k")).capability == second.capability


async def test_a_key_stands_for_one_fingerprint_for_ever(world: World) -> None:
    # given a key used for one proposal
    conflict = Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "commit_idempotency_key"})
    issued, other = await world.issued(key="k"), await world.allowed()

    # when it is asked for another one, then it is a conflict: while the capability lives, and once it expired
    assert await world.issue(other, "k") == conflict
    world.authority.clock.advance(LIFETIME_MS)
    assert await world.issue(other, "k") == conflict

    # and once it was committed
    again = await world.issued_on(issued.ground, key="k")
    must(await world.commit(again))
    assert await world.issue(other, "k") == conflict


async def test_a_request_id_used_for_another_request_is_a_conflict(world: World) -> None:
    ground = await world.allowed()
    must(await world.issue(ground, "k", request_id="r"))
    refused = await world.issue(ground, "another", request_id="r")
    assert refused == Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"})


async def test_a_settled_key_names_its_receipt(world: World) -> None:
    # given a committed capability
    issued, answer = await world.committed(key="k")
    settled = Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": answer.receipt.receipt_id})

    # when its key is asked for again, then its receipt is named, even where a new one would be refused otherwise
    assert await world.issue(issued.ground, "k") == settled
    await change_policy(world)
    assert await world.issue(issued.ground, "k") == settled


async def test_a_committed_proposal_has_no_capability_under_another_key(world: World) -> None:
    issued, answer = await world.committed()
    refused = await world.issue(issued.ground, "another")
    assert refused == Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": answer.receipt.receipt_id})


async def test_several_keys_may_stand_for_one_proposal(world: World) -> None:
    ground = await world.allowed()
    ids = {must(await world.issue(ground, f"k{number}")).capability.terms.capability_id for number in range(3)}
    assert len(ids) == 3


async def test_a12_a_key_is_its_holders_own(world: World) -> None:
    # given two holders and two tenants that use one key
    other, neighbour = await world.register(PrincipalKind.SERVICE, "other"), await world.neighbour()
    mine = await world.issued(key="k")
    others = await world.issued(key="k", holder=other)
    theirs = await neighbour.issued(key="k")

    # then each has a capability of its own
    assert len({issued.capability.digest for issued in (mine, others, theirs)}) == 3


async def test_of_many_that_ask_at_once_for_one_key_all_get_one_capability(world: World) -> None:
    ground = await world.allowed()
    answers = await asyncio.gather(*(world.issue(ground, "k") for _ in range(8)))
    issued = [must(answer) for answer in answers]
    assert len({it.capability.digest for it in issued}) == 1
    assert [it.replayed for it in issued].count(False) == 1


async def test_of_many_that_ask_at_once_for_one_key_and_other_things_one_gets_it(world: World) -> None:
    grounds = [await world.allowed() for _ in range(4)]
    answers = await asyncio.gather(*(world.issue(ground, "k") for ground in grounds))
    reasons = [reason_of(answer) for answer in answers]
    assert reasons.count(None) == 1
    assert reasons.count(Reason.IDEMPOTENCY_CONFLICT) == 3


# --- what became of one -----------------------------------------------------------------------------------------------


async def test_a_capability_names_its_receipt_once_it_is_consumed_and_in_its_tenant_alone(
    world: World, capabilities: Capabilities
) -> None:
    neighbour, issued = await world.neighbour(), await world.issued()
    capability_id = issued.capability.terms.capability_id
    live = CapabilityFate(world.service.ref, receipt_id=None, is_revoked=False)
    assert await capabilities.fate_of(world.tenant, capability_id) == live
    answer = must(await world.commit(issued))
    consumed = replace(live, receipt_id=answer.receipt.receipt_id)
    assert await capabilities.fate_of(world.tenant, capability_id) == consumed
    assert await capabilities.fate_of(neighbour.tenant, capability_id) is None
    assert await capabilities.fate_of(world.tenant, str(UUID(int=0))) is None


async def test_a_revoked_capability_is_known_as_one(world: World, capabilities: Capabilities) -> None:
    issued = await world.issued()
    must(await world.revoke(issued))
    fate = await capabilities.fate_of(world.tenant, issued.capability.terms.capability_id)
    assert fate == CapabilityFate(world.service.ref, receipt_id=None, is_revoked=True)


# --- after a revocation -----------------------------------------------------------------------------------------------


async def test_a_retry_never_undoes_a_revocation_and_a_new_request_asks_anew(world: World) -> None:
    # given a key asked for by two requests, and its capability revoked
    ground = await world.allowed()
    first = must(await world.issue(ground, "k", request_id="r1"))
    must(await world.issue(ground, "k", request_id="r2"))
    must(await world.revoke(Issued(ground, first.capability, world.service)))

    # when either comes again, however late, then it is told that
    for request_id in ("r1", "r2", "r1"):
        refused = await world.issue(ground, "k", request_id=request_id)
        assert reason_of(refused) is Reason.REVOKED

    # and a new request gets a new capability of the same key, which can be committed
    second = must(await world.issue(ground, "k", request_id="r3"))
    assert not second.replayed
    assert second.capability.terms.capability_id != first.capability.terms.capability_id

    # and while that lives it answers the old ones as well, which keep nothing for afterwards
    again = must(await world.issue(ground, "k", request_id="r1"))
    assert (again.capability, again.replayed) == (second.capability, True)
    world.authority.clock.advance(LIFETIME_MS)
    assert reason_of(await world.issue(ground, "k", request_id="r1")) is Reason.REVOKED
    third = must(await world.issue(ground, "k", request_id="r4"))
    must(await world.commit(Issued(ground, third.capability, world.service)))


async def test_of_a_revocation_and_another_refusal_the_higher_answers_a_retry(world: World) -> None:
    # given a revoked capability, when policy changes, then a retry is told of that, which stands higher
    ground = await world.allowed()
    first = must(await world.issue(ground, "k", request_id="r"))
    must(await world.revoke(Issued(ground, first.capability, world.service)))
    await change_policy(world)
    assert reason_of(await world.issue(ground, "k", request_id="r")) is Reason.POLICY_DENIED


async def test_a_settled_key_answers_before_a_revocation(world: World) -> None:
    # given a key whose first capability was revoked and whose second was committed
    ground = await world.allowed()
    first = must(await world.issue(ground, "k", request_id="r"))
    must(await world.revoke(Issued(ground, first.capability, world.service)))
    second = must(await world.issue(ground, "k"))
    answer = must(await world.commit(Issued(ground, second.capability, world.service)))

    # when the first request comes again, then it is told of the receipt
    settled = Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": answer.receipt.receipt_id})
    assert await world.issue(ground, "k", request_id="r") == settled


async def test_a_revoked_capability_leaves_its_key_to_its_fingerprint(world: World) -> None:
    issued, other = await world.issued(key="k"), await world.allowed()
    must(await world.revoke(issued))
    conflict = Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "commit_idempotency_key"})
    assert await world.issue(other, "k") == conflict


# --- facts -----------------------------------------------------------------------------------------------------------


async def facts_of(world: World, ground: Allowed, **other: Any) -> IssuingFacts | Refusal:
    """What is known when the service is to hold, where nothing else is asked."""
    question = IssuingQuestion(
        tenant=world.tenant,
        proposal_id=ground.revision.proposal_id,
        proposal_revision=ground.revision.revision,
        validation_digest=ground.validation.digest,
        decision_digest=ground.decision.digest,
        holder=world.service.ref,
        holder_key_id=world.service.key_id,
    )
    [facts] = await world.authority.store.capabilities.issuing_facts([replace(question, **other)], soon(WITHIN_S))
    assert not isinstance(facts, Exception), facts
    return facts


async def test_facts_are_what_is_stored(world: World) -> None:
    ground = await world.allowed()
    facts = must(await facts_of(world, ground))
    assert facts.proposal.revision == ground.revision
    assert facts.proposal.digest == ground.proposal.digest
    assert (facts.has_validation, facts.has_decision) == (True, True)
    assert (facts.holder, facts.holder_key_active) == (world.service.principal, True)
    assert facts.is_newest_revision
    namespace = await world.authority.store.proposals.namespace(world.tenant, NAMESPACE)
    assert namespace
    assert facts.policy_version == namespace.policy_version


async def test_facts_that_are_not_stored_are_absent(world: World) -> None:
    ground = await world.allowed()
    facts = must(await facts_of(world, ground, validation_digest=bytes(32), decision_digest=bytes(32)))
    assert (facts.has_validation, facts.has_decision) == (False, False)
    absent = Refusal(Reason.NOT_FOUND, {"field": "proposal_id"})
    assert await facts_of(world, ground, proposal_revision=2) == absent


async def test_facts_of_many_come_in_order(world: World) -> None:
    # given two revisions, and between them a proposal that there is not
    grounds = [await world.allowed() for _ in range(2)]
    question = IssuingQuestion(
        world.tenant, "", 1, bytes(32), bytes(32), holder=world.service.ref, holder_key_id=world.service.key_id
    )
    ids = [grounds[0].revision.proposal_id, world.authority.ids.new(), grounds[1].revision.proposal_id]
    asked = [replace(question, proposal_id=proposal_id) for proposal_id in ids]
    facts = await world.authority.store.capabilities.issuing_facts(asked, soon(WITHIN_S))
    found = [one.proposal.revision.proposal_id if isinstance(one, IssuingFacts) else reason_of(one) for one in facts]
    assert found == [ids[0], Reason.NOT_FOUND, ids[2]]


async def test_a_superseded_revision_is_known_as_one(world: World) -> None:
    ground = await world.allowed()
    await world.proposed(proposal_id=ground.revision.proposal_id)
    facts = must(await facts_of(world, ground))
    assert not facts.is_newest_revision


async def test_a_revoked_key_is_not_active_and_a_revoked_holder_is_absent(world: World) -> None:
    ground, administration = await world.allowed(), world.authority.store.administration
    await administration.revoke_principal_key(world.tenant, world.service.key_id, world.now())
    facts = must(await facts_of(world, ground))
    assert (facts.holder, facts.holder_key_active) == (world.service.principal, False)
    await administration.revoke_principal(world.tenant, world.service.ref, world.now())
    facts = must(await facts_of(world, ground))
    assert (facts.holder, facts.holder_key_active) == (None, False)


async def test_i09_a_key_of_another_is_no_key_of_the_holder(world: World) -> None:
    # given an agent's key and a right to issue, when a service is named as holder with it, then it is refused
    ground = await world.allowed()
    facts = must(await facts_of(world, ground, holder_key_id=world.agent.key_id))
    assert not facts.holder_key_active
    impostor = Person(world.service.principal, world.agent.key)
    assert reason_of(await world.issue(ground, "k", holder=impostor)) is Reason.NOT_ALLOWED


async def test_g02_another_tenants_facts_are_absent(world: World) -> None:
    # given a neighbour's ground, then nothing of it can be issued on here
    neighbour = await world.neighbour()
    theirs, mine = await neighbour.allowed(), await world.allowed()
    assert reason_of(await facts_of(world, theirs)) is Reason.NOT_FOUND
    others = {
        "validation_digest": theirs.validation.digest,
        "decision_digest": theirs.decision.digest,
        "holder": PrincipalRef("other", "service"),
        "holder_key_id": neighbour.service.key_id,
    }
    facts = must(await facts_of(world, mine, **others))
    assert (facts.has_validation, facts.has_decision, facts.holder, facts.holder_key_active) == (
        False,
        False,
        None,
        False,
    )


async def test_a_right_taken_away_is_seen_at_issuing(world: World) -> None:
    only_read = await world.register(PrincipalKind.SERVICE, "reader", frozenset({Right.READ}))
    proposal = await world.validated()
    must(await world.decide(proposal, holder=only_read))
    ground = await world.allow(proposal, holder=only_read)
    assert reason_of(await world.issue(ground, "k", holder=only_read)) is Reason.NOT_ALLOWED
