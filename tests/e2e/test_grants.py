"""Grants over the wire, at two processes of the service, each with its own client."""

from contextlib import AsyncExitStack

from capability_authority.client import (
    AuthorityError,
    BudgetExhausted,
    CapabilityAuthority,
    Denied,
    GrantExceeded,
    GrantUse,
    HeldGrant,
    HolderMismatch,
    IssuedCapability,
    LimitExceeded,
    Malformed,
    Narrower,
    NotAllowed,
    NotFound,
    Proposal,
    Reference,
    Revoked,
    SignatureInvalid,
    grant_terms,
)
from capability_authority.v1.grant_service_pb2 import GrantTerms
from capability_authority.v1.statements_pb2 import SignedStatement
from tests.installation.installation import AUDIENCE, NAMESPACE, Installation, Tenant
from tests.installation.processes import ServiceProcess
from tests.installation.storage import Storage
from tests.installation.team import ONCE, Ground, Team, all_of, barrier, refused, team_at


def terms(uses: int = 100) -> GrantTerms:
    """To commit what was validated, so often."""
    return grant_terms(
        audiences=[AUDIENCE],
        actions=["memory.commit-validated"],
        resources=[],
        read_memory_namespaces=[],
        write_memory_namespaces=[NAMESPACE],
        tools=[],
        providers=[],
        models=[],
        usd_micros=0,
        tokens=0,
        latency_ms=1_000,
        concurrency=1_000,
        uses=uses,
        network=False,
        destructive=False,
        delegation_depth=2,
    )


def reference(tenant: Tenant, name: str) -> Reference:
    return tenant[name].principal


async def root_of(team: Team, uses: int) -> HeldGrant:
    """Held by the user, in the service's name."""
    tenant = team.tenant
    return await team.admin.issue_grant(
        terms(uses),
        subject=reference(tenant, "service"),
        holder=reference(tenant, "user"),
        holder_key_id=tenant["user"].key_id,
    )


async def handed_to(team: Team, grant: HeldGrant, name: str, uses: int) -> HeldGrant:
    """A child, in exchange."""
    return await team.user.exchange_grant(
        grant, holder=reference(team.tenant, name), holder_key_id=team.tenant[name].key_id, terms=terms_below(uses)
    )


def terms_below(uses: int) -> GrantTerms:
    below = terms(uses)
    below.delegation_depth = 1
    return below


async def issue_under(client: CapabilityAuthority, team: Team, grant: HeldGrant, ground: Ground) -> IssuedCapability:
    """A capability for the service, asked for by whoever holds the grant."""
    return await client.issue(
        ground.proposal,
        validation_receipt=ground.validation.receipt,
        decision_receipt=ground.decision.receipt,
        holder=reference(team.tenant, "service"),
        holder_key_id=team.tenant["service"].key_id,
        grant=grant,
    )


async def test_e22_children_used_at_two_processes_never_overspend_their_parent(
    services: tuple[ServiceProcess, ...], team: Team, storage: Storage
) -> None:
    # Given a parent of ten uses, and two children of ten each
    root = await root_of(team, 10)
    children = [await handed_to(team, root, name, 10) for name in ("user", "other-service")]
    grounds = await all_of(team.ground() for _ in range(20))
    before = storage.assert_whole().receipts

    async with AsyncExitStack() as stack:
        sides = [await stack.enter_async_context(team_at(it.address, team.tenant, retries=ONCE)) for it in services]

        # When a hundred ask at once, for twenty proposals, at two processes
        async def ask(number: int) -> IssuedCapability:
            side, name = sides[number // 2 % 2], ("user", "other_service")[number % 2]
            return await issue_under(getattr(side, name), team, children[number % 2], grounds[number % 20])

        outcomes = await barrier(ask(number) for number in range(100))
    # Then ten got one, each of them is committed, and the others were told of what there is too little
    issued = {it.capability_id: it for it in outcomes if isinstance(it, IssuedCapability)}
    assert len(issued) == 10
    assert {it.dimension for it in outcomes if isinstance(it, BudgetExhausted)} == {"uses"}
    assert all(isinstance(it, IssuedCapability | BudgetExhausted) for it in outcomes), outcomes
    assert (await team.user.get_grant(root.digest)).spent.uses == 10
    content = {ground.proposal.proposal_id: ground.proposal.content for ground in grounds}
    committable = {it.terms.proposal_id: it for it in issued.values()}
    await all_of(team.service.commit(it, content=content[proposal_id]) for proposal_id, it in committable.items())
    assert storage.assert_whole().receipts == before + len(committable)


async def test_a_grant_is_handed_on_used_shown_and_revoked_at_once_elsewhere(
    team: Team, team_elsewhere: Team, storage: Storage
) -> None:
    # Given somebody who may not issue, until it is granted
    root = await root_of(team, 3)
    ground, other = await team.ground(), await team.ground()
    await refused(
        team.user.issue_grant(
            terms(),
            subject=reference(team.tenant, "service"),
            holder=reference(team.tenant, "user"),
            holder_key_id=team.tenant["user"].key_id,
        ),
        NotAllowed,
    )
    wider = await refused(handed_to(team, root, "other-service", 4), GrantExceeded)
    assert wider.dimension == "uses"
    issued = await issue_under(team.user, team, root, ground)
    waiting = await issue_under(team.user, team, root, other)
    assert not (await team.service.commit(issued, content=ground.proposal.content)).replayed
    # When it is shown, then its use is counted
    status = await team.admin.get_grant(root.digest)
    assert (status.state, status.spent.uses, status.spent.live_capabilities) == ("active", 2, 1)
    await refused(team.agent.get_grant(root.digest), NotFound)
    # When it is revoked at the other process
    revocation = await team_elsewhere.admin.revoke_grant(root)
    assert (await team.user.revoke_grant(root.digest)).revoke_time == revocation.revoke_time
    # Then nothing is issued by it here, and nothing that was is committed; what was committed stays
    await refused(issue_under(team.user, team, root, await team.ground()), Revoked)
    await refused(team.service.commit(waiting, content=other.proposal.content), Revoked)
    assert (await team.service.commit(issued, content=ground.proposal.content)).replayed
    assert (await team.admin.get_grant(root.digest)).state == "revoked"
    storage.assert_whole()


async def test_a_grant_that_was_handed_on_offline_lets_its_holder_propose(team: Team, storage: Storage) -> None:
    # Given an admin, who may not propose, and a grant that the user holds and hands on to it offline
    tenant, counts = team.tenant, storage.assert_whole()
    root = await team.admin.issue_grant(
        memory_terms(),
        subject=reference(tenant, "service"),
        holder=reference(tenant, "user"),
        holder_key_id=tenant["user"].key_id,
    )
    admin_key = tenant["admin"].signing_key.public_key
    child = root.delegate(
        tenant["user"], holder=reference(tenant, "admin"), bound_to=admin_key, narrower=Narrower(uses=1)
    )
    await refused(propose(team.admin, None), NotAllowed)
    assert (await team.agent.verify_grant(child, use=PROPOSING)).granted

    # When the admin proposes under it, then the proposal says who acted
    proposal = await propose(team.admin, child)
    assert [(it.namespace, it.id) for it in proposal.message.actor_chain] == [
        reference(tenant, "user"),
        reference(tenant, "admin"),
    ]

    # And whoever is not its holder, or presents it without its ancestors in order, gets nothing by it
    await refused(propose(team.agent, child), HolderMismatch)
    await refused(propose(team.admin, HeldGrant(child.statement, (child.statement,))), SignatureInvalid)
    other = await refused(propose(team.admin, child, memory_namespace="elsewhere"), GrantExceeded)
    assert other.dimension == "write_memory_namespaces"

    # When its root is revoked, then nothing goes by it any more, and offline it is told by who asks the authority
    await team.user.revoke_grant(root)
    await refused(propose(team.admin, child), Revoked)
    assert (await team.agent.verify_grant(child)).reason == "REVOKED"
    assert storage.assert_whole() == counts


PROPOSING = GrantUse(action="memory.propose", audience=AUDIENCE, write_memory_namespace=NAMESPACE)


def memory_terms() -> GrantTerms:
    """To propose in the memory namespace."""
    wanted = terms()
    wanted.actions.names[:] = ["memory.propose"]
    return wanted


async def propose(client: CapabilityAuthority, grant: HeldGrant | None, memory_namespace: str = NAMESPACE) -> Proposal:
    """Something small, by the grant."""
    return await client.propose(
        memory_namespace=memory_namespace,
        memory_type="durable_fact",
        content="The delegate was here.",
        source_refs=["note:1"],
        grant=grant,
    )


async def test_e17_e18_a_forged_or_foreign_grant_issues_nothing_and_leaves_nothing(
    installation: Installation, services: tuple[ServiceProcess, ...], team: Team, storage: Storage
) -> None:
    # Given a grant with a child made offline, and one of another tenant
    root = await root_of(team, 10)
    credentials = team.tenant["user"]
    child = root.delegate(credentials, holder=credentials.principal, bound_to=credentials.signing_key.public_key)
    ground = await team.ground()
    async with team_at(services[0].address, await installation.tenant(), retries=ONCE) as others:
        foreign = await root_of(others, 10)
    before = storage.dump()

    # When it comes changed, of noise, beside another parent, in another order, or by somebody else
    noise = SignedStatement(payload_type=root.statement.payload_type, payload=b"\xff" * 40)
    noise.signature.CopyFrom(root.statement.signature)
    changed = SignedStatement()
    changed.CopyFrom(child.statement)
    changed.payload = changed.payload[:-1] + bytes([changed.payload[-1] ^ 1])
    forged = {
        "noise": (HeldGrant(noise), Malformed),
        "noise as parent": (HeldGrant(child.statement, (noise,)), Malformed),
        "changed": (HeldGrant(changed, child.ancestors), AuthorityError),
        "reordered": (HeldGrant(root.statement, (child.statement,)), Denied),
        "twice": (HeldGrant(child.statement, (root.statement, child.statement)), Denied),
        "under another parent": (HeldGrant(child.statement, (foreign.statement,)), Denied),
        "of another tenant": (foreign, HolderMismatch),
        "too long": (HeldGrant(child.statement, (root.statement,) * 9), LimitExceeded),
    }
    for grant, kind in forged.values():
        await refused(issue_under(team.user, team, grant, ground), kind)
    await refused(issue_under(team.service, team, child, ground), HolderMismatch)
    # Then nothing was kept, spent or told
    assert storage.dump() == before
    # And what is good is still
    await issue_under(team.user, team, child, ground)
    storage.assert_whole()
