"""External authorities on policy: configured by operators, and what their signed decisions are worth (semantics §7)."""

import pytest

from authority.domain.audit import AuditFilter
from authority.domain.decision import DecisionOutcome
from authority.domain.external_decision import external_name
from authority.domain.proposal import StoredProposal
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.statement import Statement
from authority.domain.validation import SignedValidation
from authority.usecases.administer import AlreadyThere, NotThere
from authority.usecases.external_authorities import NewExternalAuthority
from authority.usecases.paging import PageRequest
from capability_authority.offline import PrivateKey
from tests.world.external import ISSUER, External, configured
from tests.world.world import NAMESPACE, PERMIT_ALL, Allowed, World, must, reason_of

ALLOW, ASK, DENY = DecisionOutcome.ALLOW, DecisionOutcome.REQUIRE_APPROVAL, DecisionOutcome.DENY


async def judged(world: World) -> tuple[StoredProposal, SignedValidation]:
    """A user's fact that our policy allows."""
    proposal = await world.proposed(by=world.user)
    return proposal, must(await world.validate(proposal)).signed


async def told(world: World, kind: str) -> list[tuple[str, str, str]]:
    """Subject and states of the events of a kind."""
    page = await world.authority.do.list_audit_events(
        world.admin.calls(), AuditFilter(kind=kind), PageRequest(50, ""), oldest_first=True
    )
    return [(it.event.subject, it.event.previous_state, it.event.next_state) for it in must(page).items]


# --- what operators configure -----------------------------------------------------------------------------------------


async def test_an_authority_is_added_changed_and_listed_and_each_is_told(world: World) -> None:
    external = await configured(world)
    store, other = world.authority.store.external_authorities, PrivateKey.generate()
    await world.make_namespace("more", PERMIT_ALL)
    changed = NewExternalAuthority(
        tenant=world.tenant,
        issuer=ISSUER,
        memory_namespaces=(NAMESPACE, "more"),
        required=True,
        public_keys=(other.public_key.raw,),
    )
    world.authority.clock.advance(1000)
    await store.put(changed, world.now())

    [listed] = await store.list(world.tenant)
    assert (listed.issuer, listed.memory_namespaces, listed.required) == (ISSUER, (NAMESPACE, "more"), True)
    assert [key.key_id for key in listed.keys] == [external.key_id, other.public_key.key_id]
    assert all(key.is_active for key in listed.keys)
    states = ("", f"optional in {NAMESPACE}", f"required in {NAMESPACE} more")
    assert await told(world, "external_authority.put") == [(ISSUER, *states[:2]), (ISSUER, *states[1:])]
    assert await store.list((await world.neighbour()).tenant) == ()


async def test_a_revoked_key_never_comes_back_nor_does_it_loosen_what_is_required(world: World) -> None:
    external = await configured(world, required=True)
    store = world.authority.store.external_authorities
    await store.revoke_key(world.tenant, ISSUER, external.key_id, world.now())

    [listed] = await store.list(world.tenant)
    assert listed.required
    assert [key.is_active for key in listed.keys] == [False]
    assert await told(world, "external_key.revoke") == [(external.key_id, "active", "revoked")]
    again = NewExternalAuthority(
        tenant=world.tenant,
        issuer="other.example",
        memory_namespaces=(NAMESPACE,),
        required=False,
        public_keys=(external.key.public_key.raw,),
    )
    with pytest.raises(AlreadyThere, match="or once did"):
        await store.put(again, world.now())
    with pytest.raises(NotThere, match="no active key"):
        await store.revoke_key(world.tenant, ISSUER, external.key_id, world.now())
    assert len(await store.list(world.tenant)) == 1


async def test_a_memory_namespace_that_is_not_there_is_no_place_to_have_a_say_in(world: World) -> None:
    with pytest.raises(NotThere, match="no memory namespace elsewhere"):
        await configured(world, namespaces=(NAMESPACE, "elsewhere"))
    assert await world.authority.store.external_authorities.list(world.tenant) == ()


# --- what their decisions are worth ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("said", "outcome"), [(ALLOW, ALLOW), (ASK, ASK), (DENY, DENY)])
async def test_either_denies_and_our_receipt_names_theirs(
    world: World, said: DecisionOutcome, outcome: DecisionOutcome
) -> None:
    # given what our policy allows, and an external decision on it
    external, (proposal, validation) = await configured(world), await judged(world)
    theirs = external.decides(world, proposal, validation, said)
    opened = must(world.authority.reader.open_decision(theirs))

    ours = must(await world.decide(proposal, externals=(theirs,))).receipt

    assert ours.outcome is outcome
    assert ours.determining_policies == ("allow-people-and-observers", external_name(opened))
    assert external_name(opened) == f"external:{ISSUER}:{opened.receipt.decision_id}"
    assert ours.expire_time == opened.receipt.expire_time, "it lives no longer than what it rests on"


@pytest.mark.parametrize("said", [ALLOW, ASK, DENY])
async def test_nobody_elses_word_allows_what_our_policy_denies(world: World, said: DecisionOutcome) -> None:
    await world.make_namespace("closed", '@id("never")\nforbid (principal, action, resource);\n')
    external = await configured(world, namespaces=("closed",))
    proposal = await world.proposed(by=world.user, memory_namespace="closed")
    validation = must(await world.validate(proposal)).signed

    ours = must(await world.decide(proposal, externals=(external.decides(world, proposal, validation, said),)))

    assert ours.receipt.outcome is DENY


async def test_an_approval_that_they_ask_for_is_given_by_a_person_here(world: World) -> None:
    # given an external authority that wants a person, then one who approves settles it, and what it allows is committed
    external, (proposal, validation) = await configured(world), await judged(world)
    theirs = (external.decides(world, proposal, validation, ASK),)
    asked = must(await world.decide(proposal, externals=theirs))
    assert (asked.receipt.outcome, asked.receipt.persons_needed) == (ASK, 1)
    approval = must(await world.approve(proposal))

    allowed = must(await world.decide(proposal, externals=theirs))

    assert (allowed.receipt.outcome, allowed.receipt.approval_references) == (ALLOW, (approval.reference,))
    must(await world.commit(await world.issued_on(Allowed(proposal, validation, allowed))))


async def test_what_is_required_and_missing_is_denied_and_named(world: World) -> None:
    # given two that are required, one of them elsewhere, and one that is not
    external, (proposal, validation) = await configured(world, required=True), await judged(world)
    await world.make_namespace("elsewhere", PERMIT_ALL)
    await configured(world, "elsewhere.example", required=True, namespaces=("elsewhere",))
    await configured(world, "optional.example")

    refused = await world.decide(proposal)

    assert refused == Refusal(Reason.POLICY_DENIED, {"external_authority": ISSUER})
    must(await world.decide(proposal, externals=(external.decides(world, proposal, validation),)))


async def test_a_refused_decision_keeps_nothing(world: World) -> None:
    external, (proposal, validation) = await configured(world, required=True), await judged(world)

    assert reason_of(await world.decide(proposal, request_id="r")) is Reason.POLICY_DENIED

    again = await world.decide(proposal, request_id="r", externals=(external.decides(world, proposal, validation),))
    assert must(again).receipt.outcome is ALLOW, "the request id was used up for nothing"


CHANGES: dict[str, object] = {
    "tenant": TenantRef("test", "another"),
    "memory_namespace": "elsewhere",
    "holder": PrincipalRef("test", "another"),
    "action": "memory.recall",
    "proposal_id": "00000000-0000-4000-8000-000000000001",
    "proposal_revision": 2,
    "proposal_digest": bytes(32),
    "validation_receipt_digest": bytes(32),
}


@pytest.mark.parametrize("term", CHANGES)
async def test_e10_a_decision_on_something_else_does_not_count(world: World, term: str) -> None:
    external, (proposal, validation) = await configured(world), await judged(world)
    theirs = external.decides(world, proposal, validation, **{term: CHANGES[term]})  # type: ignore[arg-type]  # by name

    assert await world.decide(proposal, externals=(theirs,)) == Refusal(Reason.BINDING_MISMATCH, {"term": term})


async def test_a_decision_on_an_older_validation_does_not_count(world: World) -> None:
    external, (proposal, validation) = await configured(world), await judged(world)
    theirs = external.decides(world, proposal, validation)
    must(await world.validate(proposal))

    refused = await world.decide(proposal, externals=(theirs,))

    assert refused == Refusal(Reason.BINDING_MISMATCH, {"term": "validation_receipt_digest"})


async def test_a_decision_counts_in_its_time_alone(world: World) -> None:
    external, (proposal, validation) = await configured(world), await judged(world)
    late = external.decides(world, proposal, validation, expire_time=world.now())
    early = external.decides(world, proposal, validation, decide_time=Instant(world.now() + 30_001))
    hardly = external.decides(world, proposal, validation, decide_time=Instant(world.now() + 30_000))

    assert reason_of(await world.decide(proposal, externals=(late,))) is Reason.EXPIRED
    assert reason_of(await world.decide(proposal, externals=(early,))) is Reason.NOT_YET_VALID
    must(await world.decide(proposal, externals=(hardly,)))


async def test_forged_unknown_and_borrowed_signatures_count_for_nothing(world: World) -> None:
    # given an authority with a key, and another one whose say is elsewhere
    external, (proposal, validation) = await configured(world), await judged(world)
    await world.make_namespace("elsewhere", PERMIT_ALL)
    other = await configured(world, "other.example", namespaces=("elsewhere",))
    good = external.decides(world, proposal, validation)
    ours = must(await world.decide(proposal)).statement
    stranger = External(ISSUER, PrivateKey.generate())
    flipped = Statement(good.payload_type, good.payload, good.key_id, good.signature[:-1] + b"\0")
    borrowed = External(ISSUER, other.key)
    retyped = Statement(validation.statement.payload_type, good.payload, good.key_id, good.signature)

    answers = [
        await world.decide(proposal, externals=(it,))
        for it in (
            flipped,
            stranger.decides(world, proposal, validation),
            borrowed.decides(world, proposal, validation),
            other.decides(world, proposal, validation),
            ours,
            retyped,
        )
    ]

    assert [reason_of(answer) for answer in answers] == [
        Reason.SIGNATURE_INVALID,
        *[Reason.ISSUER_UNKNOWN] * 4,
        Reason.MALFORMED,
    ]


async def test_a_second_decision_of_one_issuer_is_malformed(world: World) -> None:
    external, (proposal, validation) = await configured(world), await judged(world)
    both = tuple(external.decides(world, proposal, validation, said) for said in (DENY, ALLOW))

    assert reason_of(await world.decide(proposal, externals=both)) is Reason.MALFORMED


async def test_i11_the_revocation_of_an_external_key_reaches_what_rests_on_it_up_to_the_commit(world: World) -> None:
    # given two capabilities, one of which rests on an external decision
    external = await configured(world)
    proposal, validation = await judged(world)
    decision = must(await world.decide(proposal, externals=(external.decides(world, proposal, validation),)))
    resting = await world.issued_on(Allowed(proposal, validation, decision))
    other = await world.issued()

    # when its key is revoked
    store = world.authority.store.external_authorities
    await store.revoke_key(world.tenant, ISSUER, external.key_id, world.now())

    # then that one is not committed, nor does any new decision rest on the key; the other is
    assert reason_of(await world.commit(resting)) is Reason.KEY_REVOKED
    late = external.decides(world, proposal, validation)
    assert reason_of(await world.decide(proposal, externals=(late,))) is Reason.KEY_REVOKED
    must(await world.commit(other))
