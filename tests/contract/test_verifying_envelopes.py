"""VerifyActionEnvelope: what is said of an envelope's ids, from stored state alone; and the port `Standings`."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from authority.domain.decision import ApprovalVerdict
from authority.domain.identity import PrincipalKind
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal, highest
from authority.usecases.verify_action_envelope import EnvelopeQuestion, EnvelopeVerdict
from tests.contract.test_live_state import WITHDRAWALS, Case, Cause, holder_key_revoked, holder_revoked
from tests.world.external import ISSUER, configured
from tests.world.granting import Granting
from tests.world.identities import link
from tests.world.interop import action, envelope_for, judged, wire
from tests.world.reviewing import Review
from tests.world.withdrawing import withdraw
from tests.world.world import Allowed, Issued, World, must, reason_of

ALLOWED = EnvelopeVerdict(None, None)
ABSENT = EnvelopeVerdict(
    Refusal(Reason.NOT_FOUND, {"field": "policyReceiptId"}), Refusal(Reason.NOT_FOUND, {"field": "capabilityId"})
)
NO_UUID = "0190f3a0-0000-7000-8000-000000000001"
OTHER_DIGEST = wire(b"\x01" * 32)


def reasons(verdict: EnvelopeVerdict) -> tuple[Reason | None, Reason | None]:
    """Of policy, and of the capability."""
    return reason_of(verdict.policy), reason_of(verdict.capability)


# --- commits ---------------------------------------------------------------------------------------------------------


async def test_what_a_commit_would_take_is_allowed_by_both_and_uses_nothing_up(world: World) -> None:
    issued = await world.issued()
    before = await world.counts()
    for _ in range(2):
        assert await judged(world, envelope_for(world, issued)) == ALLOWED
    assert await world.counts() == before
    must(await world.commit(issued))


async def test_a_key_is_taken_by_its_name_too_until_that_is_revoked(world: World) -> None:
    issued, store = await world.issued(), world.authority.store
    question = EnvelopeQuestion(json.dumps(envelope_for(world, issued)).encode(), "k1")
    await store.key_aliases.add(world.tenant, "k1", world.service.key_id, world.now())
    assert must(await world.authority.do.verify_action_envelope(world.service.calls(), question)) == ALLOWED
    await store.key_aliases.revoke(world.tenant, "k1", world.now())
    verdict = must(await world.authority.do.verify_action_envelope(world.service.calls(), question))
    assert reasons(verdict) == (Reason.HOLDER_MISMATCH, Reason.HOLDER_MISMATCH)


BOUND: dict[str, dict[str, Any]] = {
    "audience": {"audience": "ruflo.policy"},
    "memory_namespace": {"resourceRefs": ["ledger"]},
    "content_digest": {"contentDigest": OTHER_DIGEST},
    "commit_idempotency_key": {"idempotencyKey": "another"},
    "request_fingerprint": {"requestDigest": OTHER_DIGEST},
    "validation_receipt_digest": {"validationReceiptId": OTHER_DIGEST},
}
"""What must equal the capability's, each changed by itself."""
DECIDED = {"memory_namespace", "content_digest", "validation_receipt_digest"}
"""What the decision binds, too."""


@pytest.mark.parametrize("term", BOUND)
async def test_e16_a_term_that_differs_is_named(world: World, term: str) -> None:
    verdict = await judged(world, envelope_for(world, await world.issued(), **BOUND[term]))
    differs = Refusal(Reason.BINDING_MISMATCH, {"term": term})
    assert verdict == EnvelopeVerdict(differs if term in DECIDED else None, differs)


@pytest.mark.parametrize(
    "refs", [["notes", "ledger"], ["notes/a"], ["note"], ["Notes"], ["notes/"], ["ruflo.memory://ns/notes"]]
)
async def test_g01_it_is_for_the_memory_namespace_and_nothing_beside(world: World, refs: list[str]) -> None:
    verdict = await judged(world, envelope_for(world, await world.issued(), resourceRefs=refs))
    assert reasons(verdict) == (Reason.BINDING_MISMATCH, Reason.BINDING_MISMATCH)


@pytest.mark.parametrize("text", ["receipt-01", "sha256:00", NO_UUID, f"sha256:{'A' * 64}", f"SHA256:{'0' * 64}"])
async def test_f07_ids_that_are_none_of_ours_name_nothing(world: World, text: str) -> None:
    issued = await world.issued()
    no_policy = envelope_for(world, issued, policyReceiptId=text)
    no_capability = envelope_for(world, issued, capabilityId=text)
    no_validation = envelope_for(world, issued, validationReceiptId=text)
    assert (await judged(world, no_policy)).policy == ABSENT.policy
    assert (await judged(world, no_policy)).capability == Refusal(
        Reason.BINDING_MISMATCH, {"term": "decision_receipt_digest"}
    )
    assert await judged(world, no_capability) == EnvelopeVerdict(None, ABSENT.capability)
    assert reasons(await judged(world, no_validation)) == (Reason.BINDING_MISMATCH, Reason.BINDING_MISMATCH)


async def test_another_decision_than_the_bound_one_is_a_mismatch_however_good_it_is(world: World) -> None:
    # given two decisions that allow the same
    issued = await world.issued()
    again = await world.allow(issued.ground.proposal)
    verdict = await judged(world, envelope_for(world, issued, policyReceiptId=wire(again.decision.digest)))
    assert verdict == EnvelopeVerdict(
        Refusal(Reason.BINDING_MISMATCH, {"term": "validation_receipt_digest"}),
        Refusal(Reason.BINDING_MISMATCH, {"term": "decision_receipt_digest"}),
    )


async def test_i09_only_the_holders_key_counts(world: World) -> None:
    # given envelopes for the service's commit that others signed, or whose key nobody has
    issued = await world.issued()
    other = await world.register(PrincipalKind.SERVICE, "other")
    neighbour = await world.neighbour()
    for signer in (world.admin, other, neighbour.service):
        verdict = await judged(world, envelope_for(world, issued), signer=signer)
        assert reasons(verdict) == (Reason.HOLDER_MISMATCH, Reason.HOLDER_MISMATCH)
    # and what became of the capability is then not told
    must(await world.commit(issued))
    assert (await judged(world, envelope_for(world, issued), signer=other)).receipt_id == ""


async def test_what_was_committed_names_its_receipt(world: World) -> None:
    issued = await world.issued()
    receipt_id = must(await world.commit(issued)).receipt.receipt_id
    consumed = Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": receipt_id})
    assert await judged(world, envelope_for(world, issued)) == EnvelopeVerdict(None, consumed, receipt_id)


NOBODY_LEFT = {holder_key_revoked, holder_revoked}
"""Whoever signed is then nobody."""


@pytest.mark.parametrize(("cause", "reason"), WITHDRAWALS.values(), ids=WITHDRAWALS)
async def test_i11_what_a_commit_would_be_refused_for_is_foretold(world: World, cause: Cause, reason: Reason) -> None:
    # given a commit against which something happened
    case = await Case.begin(world)
    envelope = envelope_for(world, case.issued)
    assert await judged(world, envelope) == ALLOWED
    await cause(case)
    # when the envelope is judged, then one of the two sides says what the commit will be refused for
    verdict = await judged(world, envelope)
    foretold = Reason.HOLDER_MISMATCH if cause in NOBODY_LEFT else reason
    assert reason_of(highest((verdict.policy, verdict.capability))) is foretold
    assert await case.answer() is reason


async def persons_become_one(world: World) -> Issued:
    """Of two who approved."""
    review, carol = await Review.begin(world), await world.register(PrincipalKind.USER, "carol")
    await review.approved(world.user, carol)
    issued = await review.issued()
    await link(world, world.user, carol)
    return issued


async def approver_is_revoked(world: World) -> Issued:
    """One of two."""
    review, carol = await Review.begin(world), await world.register(PrincipalKind.USER, "carol")
    await review.approved(world.user, carol)
    issued = await review.issued()
    await world.authority.store.administration.revoke_principal(world.tenant, carol.ref, world.now())
    return issued


async def person_takes_back_what_policy_allowed(world: World) -> Issued:
    """Nobody was asked before."""
    issued = await world.issued()
    must(await world.approve(issued.ground.proposal, ApprovalVerdict.REVOKE))
    return issued


async def external_key_is_revoked(world: World) -> Issued:
    """On whose word the decision rests."""
    external = await configured(world)
    proposal = await world.validated(by=world.user)
    validation = must(await world.validate(proposal)).signed
    decision = must(await world.decide(proposal, externals=(external.decides(world, proposal, validation),)))
    issued = await world.issued_on(Allowed(proposal, validation, decision))
    await world.authority.store.external_authorities.revoke_key(world.tenant, ISSUER, external.key_id, world.now())
    return issued


async def other_correction_is_first(world: World) -> Issued:
    """Of the same record."""
    record_id = (await world.committed())[1].receipt.record_id
    first, second = [must(await world.correct(record_id)) for _ in range(2)]
    issued = await world.issued_on(await world.allow(second))
    must(await world.commit(await world.issued_on(await world.allow(first))))
    return issued


async def corrected_record_is_revoked(world: World) -> Issued:
    """Which is to be corrected."""
    record_id = (await world.committed())[1].receipt.record_id
    issued = await world.issued_on(await world.allow(must(await world.correct(record_id))))
    must(await world.revoke_record(record_id))
    return issued


async def grant_is_revoked(world: World) -> Issued:
    """Under which the capability was issued."""
    granting = Granting(world)
    granted = await granting.issued(world.service)
    issued = await granting.issued_under(granted)
    must(await granting.revoke(granted))
    return issued


async def withdrawn(world: World) -> Issued:
    """By its proposer."""
    issued = await world.issued()
    must(await withdraw(world, issued.ground.proposal))
    return issued


LOST: dict[Callable[[World], Awaitable[Issued]], Reason] = {
    persons_become_one: Reason.APPROVAL_REQUIRED,
    approver_is_revoked: Reason.APPROVAL_REQUIRED,
    person_takes_back_what_policy_allowed: Reason.APPROVAL_REQUIRED,
    external_key_is_revoked: Reason.KEY_REVOKED,
    other_correction_is_first: Reason.NOT_VALIDATED,
    corrected_record_is_revoked: Reason.REVOKED,
    grant_is_revoked: Reason.REVOKED,
    withdrawn: Reason.NOT_VALIDATED,
}


@pytest.mark.parametrize("lost", LOST)
async def test_i11_whatever_a_commit_rests_on_is_foretold(
    world: World, lost: Callable[[World], Awaitable[Issued]]
) -> None:
    issued = await lost(world)
    verdict = await judged(world, envelope_for(world, issued))
    assert reason_of(highest((verdict.policy, verdict.capability))) is LOST[lost]
    assert reason_of(await world.commit(issued)) is LOST[lost]


async def test_i11_of_holder_and_key_the_store_says_what_became(world: World) -> None:
    standings, terms = world.authority.store.standings, (await world.issued()).capability.terms
    cases = [await Case.begin(await world.neighbour()) for _ in range(2)]
    await holder_key_revoked(cases[0])
    await holder_revoked(cases[1])
    for case, reason in zip(cases, (Reason.KEY_REVOKED, Reason.REVOKED), strict=True):
        other, bound = case.world, case.issued.capability.terms
        found = await standings.capability(other.tenant, bound.capability_id, other.now())
        assert found is not None
        assert found.refusal == Refusal(reason)
    other, bound = cases[1].world, cases[1].issued.capability.terms
    decision = await standings.decision(other.tenant, bound.decision_receipt_digest, other.now())
    assert decision is not None
    assert decision.refusal == Refusal(Reason.REVOKED)
    # and in the tenant next door nothing happened, nor is anything of it known there
    untouched = await standings.capability(world.tenant, terms.capability_id, world.now())
    assert untouched is not None
    assert (untouched.refusal, untouched.receipt_id) == (None, "")
    assert await standings.capability(world.tenant, bound.capability_id, world.now()) is None
    assert await standings.decision(world.tenant, bound.decision_receipt_digest, world.now()) is None


async def test_g02_of_another_tenant_nothing_is_said(world: World) -> None:
    # given a neighbour's good envelope, and one in our tenant that names what is the neighbour's
    neighbour = await world.neighbour()
    theirs = await neighbour.issued()
    whole = envelope_for(neighbour, theirs)
    named = envelope_for(world, await world.issued()) | {
        member: whole[member] for member in ("policyReceiptId", "capabilityId", "validationReceiptId")
    }
    nothing = envelope_for(world, await world.issued(), policyReceiptId=OTHER_DIGEST, capabilityId=NO_UUID)
    # then each is answered as one that names nothing, whoever signed it
    for envelope in (whole, named, nothing):
        for signer in (world.service, neighbour.service):
            assert await judged(world, envelope, signer=signer) == ABSENT


# --- whatever else ---------------------------------------------------------------------------------------------------


async def test_what_is_outside_the_closed_vocabulary_is_allowed_by_nobody(world: World) -> None:
    refused = Refusal(Reason.NOT_ALLOWED, {"field": "action"})
    envelope = action(
        world,
        "evolution.promote",
        resourceRefs=["policy"],
        capabilityId="all",
        policyReceiptId="all",
        authoritativeSource=None,
    )
    tenant = envelope["tenantRef"]
    envelope["authoritativeSource"] = {
        "authority": "meta-llm",
        "tenantRef": tenant,
        "sourceType": "meta-llm/action",
        "sourceId": "s",
        "sourceVersion": "1",
        "sourceDigest": OTHER_DIGEST,
    }
    assert await judged(world, envelope) == EnvelopeVerdict(refused, refused)


async def test_adr328_09_only_services_ask(world: World) -> None:
    envelope = json.dumps(envelope_for(world, await world.issued())).encode()
    question = EnvelopeQuestion(envelope, world.service.key_id)
    for kind in PrincipalKind:
        person = await world.register(kind, f"a-{kind.value}")
        answer = await world.authority.do.verify_action_envelope(person.calls(), question)
        if kind is PrincipalKind.SERVICE:
            assert answer == ALLOWED
        else:
            assert answer == Refusal(Reason.NOT_ALLOWED, {"kind": "service"})


MALFORMED = {
    b"": "not_json",
    b"{}": "$.schemaVersion missing",
    b"[]": "$ invalid_type",
    b"\xff": "bad_utf8",
    b'{"action":"a","action":"b"}': "duplicate_key",
    b"[" * 40 + b"]" * 40: "too_deep",
}


@pytest.mark.parametrize("text", MALFORMED)
async def test_f07_what_upstreams_schema_does_not_allow_is_malformed(world: World, text: bytes) -> None:
    question = EnvelopeQuestion(text, world.service.key_id)
    refused = await world.authority.do.verify_action_envelope(world.service.calls(), question)
    assert isinstance(refused, Refusal)
    assert (refused.reason, refused.facts["field"]) == (Reason.MALFORMED, "envelope_json")
    assert refused.facts["problem"].endswith(MALFORMED[text])


async def test_f07_a_field_too_many_or_null_is_malformed_and_named_without_its_value(world: World) -> None:
    good = envelope_for(world, await world.issued())
    for spoiled, told in (
        (good | {"surprise": "SECRET"}, "$.surprise unknown_field"),
        (good | {"actor": None}, "$.actor invalid_type"),
        *(
            (good | {"resourceRefs": [ref]}, "$.resourceRefs[0] invalid_format")
            for ref in ("*", "notes/*", "notes ", "%")
        ),
        (good | {"capabilityId": "a b"}, "$.capabilityId invalid_format"),
        (good | {"policyReceiptId": "x" * 257}, "$.policyReceiptId invalid_format"),
        (good | {"\u202esurprise": 1}, "$ unknown_field"),
    ):
        text = json.dumps(spoiled).encode()
        refused = await world.authority.do.verify_action_envelope(
            world.service.calls(), EnvelopeQuestion(text, world.service.key_id)
        )
        assert isinstance(refused, Refusal)
        assert refused.facts["problem"] == f"is no action envelope: {told}"
