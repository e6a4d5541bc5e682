"""VerifyActionEnvelope of actions under grants: what a kept grant allows, to the key it binds, under its policy."""

from typing import Any

import pytest

from authority.domain.grant import GrantAction
from authority.domain.identity import PrincipalKind, Right
from authority.domain.reasons import Reason
from authority.domain.references import DAY, SECOND
from authority.domain.refusal import Refusal
from authority.usecases.verify_action_envelope import EnvelopeVerdict
from tests.contract.test_verifying_envelopes import ABSENT, ALLOWED, OTHER_DIGEST
from tests.world.granting import Granted, Granting
from tests.world.interop import envelope_under, judged, wire
from tests.world.world import NAMESPACE, PERMIT_ALL, World, must, reason_of

EVIDENCE = f"evidence/{OTHER_DIGEST}"
RESOURCES = {
    GrantAction.MEMORY_RECALL: "notes",
    GrantAction.MEMORY_PROPOSE: "notes",
    GrantAction.EVIDENCE_READ: EVIDENCE,
    GrantAction.COGNITION_ROUTE: "models/small",
    GrantAction.COGNITION_CRITIQUE: "plans/7",
}


async def granted_for(world: World, **said: Any) -> Granted:
    """For the five actions, in the user's name, held by the service."""
    usual: dict[str, Any] = {
        "subject": world.user.ref,
        "actions": tuple(action.value for action in RESOURCES),
        "resources": ("evidence/*", "models/*", "plans/7"),
    }
    return await Granting(world).issued(world.service, **usual | said)


def test_every_action_of_the_closed_vocabulary_is_tried() -> None:
    assert set(GrantAction) - set(RESOURCES) == {GrantAction.MEMORY_COMMIT_VALIDATED}


@pytest.mark.parametrize("allowed", RESOURCES)
async def test_what_a_grant_allows_is_allowed_and_spends_nothing(world: World, allowed: GrantAction) -> None:
    granted = await granted_for(world, uses=1)
    for _ in range(2):
        assert await judged(world, envelope_under(world, granted, allowed.value, RESOURCES[allowed])) == ALLOWED


@pytest.mark.parametrize("asked", RESOURCES)
async def test_e17_what_a_grant_does_not_allow_is_exceeded_by_its_dimension(world: World, asked: GrantAction) -> None:
    dimension = {
        GrantAction.MEMORY_RECALL: "read_memory_namespaces",
        GrantAction.MEMORY_PROPOSE: "write_memory_namespaces",
    }.get(asked, "resources")
    resource = RESOURCES[asked]
    elsewhere = await granted_for(world, **{dimension: ("elsewhere",)})
    nothing_of_it = await granted_for(world, actions=(next(it.value for it in RESOURCES if it is not asked),))
    for granted, exceeded in ((elsewhere, dimension), (nothing_of_it, "actions")):
        verdict = await judged(world, envelope_under(world, granted, asked.value, resource))
        assert verdict.capability == Refusal(Reason.GRANT_EXCEEDED, {"dimension": exceeded})
    # and of many resources each must be allowed; what only looks alike is selected by nothing
    granted = await granted_for(world)
    for refs in ((resource, "else"), (f"{resource.upper()}",), ("models/../x",), ("models//x",), ("models",)):
        verdict = await judged(world, envelope_under(world, granted, asked.value, *refs))
        assert verdict.capability == Refusal(Reason.GRANT_EXCEEDED, {"dimension": dimension}), refs


async def test_a_grant_counts_for_the_key_that_it_binds(world: World) -> None:
    granted = await granted_for(world)
    envelope = envelope_under(world, granted, "memory.recall", "notes")
    for signer in (world.user, world.admin, (await world.neighbour()).service):
        verdict = await judged(world, envelope, signer=signer)
        assert verdict == EnvelopeVerdict(None, Refusal(Reason.HOLDER_MISMATCH))


async def test_a_grant_gives_nothing_that_its_subject_lacks(world: World) -> None:
    bare = await world.register(PrincipalKind.USER, "bare", frozenset({Right.DECIDE}))
    granted = await granted_for(world, subject=bare.ref)
    for asked, right in (("memory.recall", "read"), ("evidence.read", "read"), ("memory.propose", "propose")):
        envelope = envelope_under(world, granted, asked, RESOURCES[GrantAction(asked)])
        assert (await judged(world, envelope)).capability == Refusal(Reason.NOT_ALLOWED, {"right": right})


async def test_i11_a_withdrawn_grant_allows_nothing(world: World) -> None:
    granting = Granting(world)
    revoked, expired, orphaned = [await granted_for(world, lifetime_ms=life) for life in (DAY, SECOND, DAY)]
    must(await granting.revoke(revoked))
    for granted, reason in ((revoked, Reason.REVOKED), (orphaned, None)):
        envelope = envelope_under(world, granted, "memory.recall", "notes")
        assert reason_of((await judged(world, envelope)).capability) is reason
    world.authority.clock.advance(SECOND)
    assert reason_of((await judged(world, envelope_under(world, expired, "memory.recall", "notes"))).capability) is (
        Reason.EXPIRED
    )
    await world.authority.store.administration.revoke_principal(world.tenant, world.user.ref, world.now())
    envelope = envelope_under(world, orphaned, "memory.recall", "notes")
    assert reason_of((await judged(world, envelope)).capability) is Reason.REVOKED


async def test_e22_a_grant_that_is_used_up_allows_nothing(world: World) -> None:
    actions = ("memory.commit-validated", "memory.recall")
    granted = await granted_for(world, subject=world.service.ref, actions=actions, uses=1)
    await Granting(world).issued_under(granted)
    verdict = await judged(world, envelope_under(world, granted, "memory.recall", "notes"))
    assert verdict.capability == Refusal(Reason.BUDGET_EXHAUSTED, {"dimension": "uses"})


async def test_a_grants_policy_must_decide_where_the_action_takes_place(world: World) -> None:
    # given a grant under the policy that decides in our memory namespace, and another namespace under another one
    await world.make_namespace("ledger", PERMIT_ALL)
    version = (await world.issued()).capability.terms.policy_version
    granted = await granted_for(world, policy_version=version, read_memory_namespaces=("notes", "ledger"))
    denied = Refusal(Reason.POLICY_DENIED, {"field": "policyReceiptId"})
    for refs, policy in ((("notes",), None), (("ledger",), denied), (("notes", "ledger"), denied)):
        assert await judged(world, envelope_under(world, granted, "memory.recall", *refs)) == EnvelopeVerdict(
            policy, None
        )
    assert await judged(world, envelope_under(world, granted, "cognition.route", "models/a")) == ALLOWED
    # when another one is named, or it decides nowhere any more, then it does not allow it
    other = await world.load(PERMIT_ALL)
    named = envelope_under(world, granted, "cognition.route", "models/a", policyReceiptId=wire(other))
    assert await judged(world, named) == EnvelopeVerdict(
        None, Refusal(Reason.BINDING_MISMATCH, {"term": "policy_version"})
    )
    await world.authority.store.administration.activate_policy(world.tenant, NAMESPACE, other, world.now())
    for asked in ("cognition.route", "memory.recall"):
        verdict = await judged(world, envelope_under(world, granted, asked, RESOURCES[GrantAction(asked)]))
        assert verdict == EnvelopeVerdict(denied, None)


async def test_g02_another_tenants_grant_is_not_there(world: World) -> None:
    neighbour = await world.neighbour()
    theirs = await granted_for(neighbour)
    unknown = envelope_under(world, theirs, "cognition.route", "models/a", policyReceiptId=OTHER_DIGEST)
    assert await judged(world, unknown) == ABSENT
    assert await judged(world, unknown | {"capabilityId": OTHER_DIGEST}) == ABSENT
