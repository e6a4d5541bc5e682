"""Every change of state tells of itself: who did it, from which state to which, at what cost, in which trace (§9)."""

from collections.abc import Awaitable, Callable

import pytest

from authority.domain.audit import AuditEvent, AuditFilter
from authority.domain.decision import AUTO_APPROVED, ApprovalVerdict
from authority.domain.identity import PrincipalKind
from authority.domain.proposal import Cost
from authority.domain.record import Mode
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.revocation import AUTHORITY_ITSELF
from authority.domain.statement import KeyPurpose
from authority.signing.rotation import Scope, generate
from authority.usecases.administer import OPERATOR
from tests.world.world import NAMESPACE, PERMIT_ALL, TRACE_ID, World, must

COSTS = (Cost(stage="extraction", model="m", input_tokens=7, output_tokens=2, usd_micros=31),)
Told = tuple[str, PrincipalRef, str, str, str]
"""Kind, actor, subject, previous and next state."""


async def proposal(world: World) -> list[Told]:
    revision = (await world.proposed(by=world.agent)).revision
    return [("proposal.create", world.agent.ref, f"{revision.proposal_id}:1", "", "proposed")]


async def validation(world: World) -> list[Told]:
    kept = await world.proposed()
    must(await world.validate(kept))
    return [("proposal.validate", world.service.ref, kept.revision.proposal_id, "proposed", "validated")]


async def decision(world: World) -> list[Told]:
    kept = await world.validated()
    must(await world.decide(kept))
    return [("policy.decide", world.service.ref, f"{kept.revision.proposal_id}:1", "", AUTO_APPROVED)]


async def decision_on_approvals(world: World) -> list[Told]:
    kept = await world.validated(by=world.agent)
    must(await world.approve(kept))
    must(await world.decide(kept))
    return [("policy.decide", world.service.ref, f"{kept.revision.proposal_id}:1", "", "allow")]


async def activation_adopted(world: World) -> list[Told]:
    kept = await world.validated()
    must(await world.decide(kept))
    must(await world.approve(kept, ApprovalVerdict.ADOPT))
    return [("proposal.adopt", world.admin.ref, kept.revision.proposal_id, "validated", "validated")]


async def activation_taken_back(world: World) -> list[Told]:
    issued, answer = await world.committed()
    proposal = issued.ground.proposal
    must(await world.approve(proposal, ApprovalVerdict.REVOKE))
    return [
        ("proposal.revoke", world.admin.ref, proposal.revision.proposal_id, "committed", "committed"),
        ("memory.revoke", world.admin.ref, answer.receipt.record_id, "live", "revoked"),
    ]


async def approval(world: World) -> list[Told]:
    kept = await world.validated()
    must(await world.approve(kept))
    return [("proposal.approve", world.admin.ref, kept.revision.proposal_id, "validated", "approved")]


async def approval_taken_back(world: World) -> list[Told]:
    kept = await world.validated()
    must(await world.approve(kept))
    must(await world.approve(kept, ApprovalVerdict.REVOKE))
    return [("proposal.revoke", world.admin.ref, kept.revision.proposal_id, "approved", "validated")]


async def issue(world: World) -> list[Told]:
    issued = await world.issued()
    return [("capability.issue", world.service.ref, issued.capability.terms.capability_id, "", "issued")]


async def commit(world: World) -> list[Told]:
    issued, answer = await world.committed(costs=COSTS)
    return [("memory.commit", issued.holder.ref, answer.receipt.record_id, "issued", "consumed")]


async def revocation_of_a_capability(world: World) -> list[Told]:
    issued = await world.issued()
    must(await world.revoke(issued, by=world.admin))
    return [("capability.revoke", world.admin.ref, issued.capability.terms.capability_id, "issued", "revoked")]


async def revocation_of_a_record(world: World) -> list[Told]:
    _, answer = await world.committed()
    must(await world.revoke_record(answer.receipt.record_id))
    return [("memory.revoke", world.user.ref, answer.receipt.record_id, "live", "revoked")]


async def correction_of_a_record(world: World) -> list[Told]:
    _, answer = await world.committed()
    old = answer.receipt.record_id
    must(await world.commit(await world.issued_on(await world.allow(must(await world.correct(old))))))
    must(await world.revoke_record(old))
    return [
        ("memory.correct", world.service.ref, old, "live", "superseded"),
        ("memory.revoke", world.user.ref, old, "superseded", "revoked"),
    ]


async def principal(world: World) -> list[Told]:
    new = await world.register(PrincipalKind.TOOL, "new")
    await world.authority.store.administration.revoke_principal(world.tenant, new.ref, world.now())
    return [
        ("principal.add", OPERATOR, str(new.ref), "", "active"),
        ("principal.revoke", OPERATOR, str(new.ref), "active", "revoked"),
    ]


async def principal_key(world: World) -> list[Told]:
    await world.authority.store.administration.revoke_principal_key(world.tenant, world.agent.key_id, world.now())
    return [("principal_key.revoke", OPERATOR, world.agent.key_id, "active", "revoked")]


async def namespace(world: World) -> list[Told]:
    await world.make_namespace("more", PERMIT_ALL)
    return [("memory_namespace.add", OPERATOR, "more", "", "enforce")]


async def mode(world: World) -> list[Told]:
    await world.authority.store.administration.set_mode(world.tenant, NAMESPACE, Mode.LEGACY, world.now())
    return [("memory_namespace.mode", OPERATOR, NAMESPACE, "enforce", "legacy")]


async def policy_activation(world: World) -> list[Told]:
    [before, *_] = await world.authority.store.administration.list_namespaces(world.tenant)
    version = await world.load(PERMIT_ALL)
    await world.authority.store.administration.activate_policy(world.tenant, NAMESPACE, version, world.now())
    states = (f"sha256:{before.policy_version.hex()}", f"sha256:{version.hex()}")
    return [("policy.activate", OPERATOR, NAMESPACE, *states)]


async def policy_load(world: World) -> list[Told]:
    version = await world.load(f"{PERMIT_ALL}// for {world.tenant}\n")
    return [("policy.load", OPERATOR, f"sha256:{version.hex()}", "", "loaded")]


async def issuer_key(world: World) -> list[Told]:
    authority, now, scope = world.authority, world.now(), Scope(world.tenant)
    old, new = (generate(authority.folder, KeyPurpose.GRANT, now, scope) for _ in range(2))
    for key in (old, new):
        await authority.store.administration.add_issuer_key(key, now)
    await authority.store.administration.revoke_issuer_key(old.key_id, None, now)
    return [
        ("issuer_key.add", OPERATOR, old.key_id, "", "active"),
        ("issuer_key.retire", OPERATOR, old.key_id, "active", "retiring"),
        ("issuer_key.add", OPERATOR, new.key_id, "", "active"),
        ("issuer_key.revoke", OPERATOR, old.key_id, "retiring", "revoked"),
    ]


CHANGES: dict[str, tuple[Callable[[World], Awaitable[list[Told]]], bool]] = {
    "propose": (proposal, False),
    "validate": (validation, False),
    "decide": (decision, False),
    "approve": (approval, False),
    "decide on approvals": (decision_on_approvals, False),
    "adopt an activation": (activation_adopted, False),
    "take an activation back": (activation_taken_back, False),
    "take an approval back": (approval_taken_back, False),
    "issue": (issue, False),
    "commit": (commit, False),
    "revoke a capability": (revocation_of_a_capability, False),
    "revoke a record": (revocation_of_a_record, False),
    "correct a record, and revoke what was corrected": (correction_of_a_record, False),
    "add and revoke a principal": (principal, False),
    "revoke a principal's key": (principal_key, False),
    "add a memory namespace": (namespace, False),
    "set a mode": (mode, False),
    "activate a policy": (policy_activation, False),
    "load a policy": (policy_load, True),
    "add, retire and revoke an issuer key": (issuer_key, True),
}
"""How to make each change, and whether it belongs to no tenant."""


async def events(world: World, tenant: TenantRef, kinds: set[str], subjects: set[str]) -> list[AuditEvent]:
    """The events of these kinds and subjects in their order."""
    found = await world.authority.store.audit_log.page(tenant, AuditFilter(), oldest_first=True, after="", size=100_000)
    return [told.event for told in found if told.event.kind in kinds and told.event.subject in subjects]


@pytest.mark.parametrize(("change", "is_global"), CHANGES.values(), ids=CHANGES)
async def test_every_change_of_state_is_told_once(
    world: World, change: Callable[[World], Awaitable[list[Told]]], *, is_global: bool
) -> None:
    expected = await change(world)
    tenant = AUTHORITY_ITSELF if is_global else world.tenant

    found = await events(world, tenant, {told[0] for told in expected}, {told[2] for told in expected})

    assert [(it.kind, it.actor, it.subject, it.previous_state, it.next_state) for it in found] == expected
    for event in found:
        # what the operator does at the command line is no call, and has no trace
        assert event.trace_id == ("" if event.actor == OPERATOR else TRACE_ID)
        assert event.time == world.now()


async def test_cost_and_correlation_go_from_the_proposal_to_the_commit(world: World) -> None:
    # given a proposal that says what it cost and what it belongs to, committed
    issued = await world.issued(by=world.agent, costs=COSTS, correlation_id="run-7")
    must(await world.revoke(await world.issued_on(issued.ground)))
    must(await world.commit(issued))
    log = world.authority.store.audit_log

    # then whatever happened on its way is found by that
    found = await log.page(world.tenant, AuditFilter(correlation_id="run-7"), oldest_first=True, after="", size=99)
    kinds = [told.event.kind for told in found]
    assert kinds == [
        "proposal.create", "proposal.validate", "policy.decide", "proposal.approve", "policy.decide",
        "capability.issue", "capability.issue", "capability.revoke", "memory.commit",
    ]  # fmt: skip
    assert {told.event.kind for told in found if told.event.costs == COSTS} == {"proposal.create", "memory.commit"}


async def test_what_changes_nothing_is_not_told(world: World) -> None:
    # given a commit and a revocation
    issued, _ = await world.committed()
    other = await world.issued()
    must(await world.revoke(other))
    before = await world.authority.store.audit_log.page(
        world.tenant, AuditFilter(), oldest_first=True, after="", size=100
    )

    # when they are retried, refused, or asked for again
    assert must(await world.commit(issued)).replayed
    await world.commit(issued, content_digest=bytes(32))
    assert must(await world.revoke(other)).replayed
    must(await world.authority.do.verify_capability(world.agent.calls(), issued.capability.statement, None))

    # then nothing is told
    after = await world.authority.store.audit_log.page(
        world.tenant, AuditFilter(), oldest_first=True, after="", size=100
    )
    assert after == before
