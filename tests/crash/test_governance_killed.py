"""kill -9 of the service amid each act that governs: of a grant, evidence, a proposal, a decision; then the same again.

All acts are under way at once, each in a tenant of its own, so that the service is killed once for all of them.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Final

import pytest
from google.protobuf.message import Message

from authority.domain.record import Mode
from authority.policy.bundle import bundle_version, default_bundle
from authority.usecases.administer import NewMemoryNamespace
from capability_authority.client import CapabilityAuthority, HeldGrant, Proposal, grant_terms
from capability_authority.v1 import evidence_service_pb2 as evidence
from capability_authority.v1 import grant_service_pb2 as grants
from capability_authority.v1 import memory_service_pb2 as memory
from capability_authority.v1 import proposal_service_pb2 as proposals
from capability_authority.v1 import types_pb2 as types
from tests.crash.conftest import DOOMED, Site
from tests.installation.gates import gate
from tests.installation.installation import AUDIENCE, NAMESPACE, Tenant
from tests.installation.processes import eventually
from tests.installation.team import ONCE, Team, team_at

Verdict = proposals.DecideProposalRequest
LEGACY: Final = "legacy"
MANY: Final = 3
TERMS: Final = grant_terms(
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
    latency_ms=0,
    concurrency=1,
    uses=1,
    network=False,
    destructive=False,
    delegation_depth=1,
)


@dataclass(frozen=True)
class Act:
    """A request of one of the team, ready to be sent as often as one likes, and how many audit events it writes."""

    by: str
    rpc: str
    request: Message
    events: int = 1

    def asked_of(self, team: Team) -> Awaitable[Message]:
        client: CapabilityAuthority = getattr(team, self.by)
        return client.call(self.rpc, self.request)


async def proposed(team: Team, text: str) -> Proposal:
    return await team.agent.propose(memory_namespace=NAMESPACE, memory_type="durable_fact", content=text)


def ref(tenant: Tenant, name: str) -> types.PrincipalRef:
    return types.PrincipalRef(namespace=tenant[name].principal.namespace, id=tenant[name].principal.id)


async def root_of(team: Team) -> HeldGrant:
    tenant = team.tenant
    return await team.admin.issue_grant(
        TERMS, subject=tenant["service"].principal, holder=tenant["user"].principal, holder_key_id=tenant["user"].key_id
    )


async def issuing_a_grant(team: Team) -> Act:
    tenant = team.tenant
    request = grants.IssueGrantRequest(
        request_id="r",
        subject=ref(tenant, "service"),
        holder=ref(tenant, "user"),
        holder_key_id=tenant["user"].key_id,
        terms=TERMS,
    )
    return Act("admin", "IssueGrant", request)


async def exchanging_a_grant(team: Team) -> Act:
    below = grants.GrantTerms()
    below.CopyFrom(TERMS)
    below.delegation_depth = 0
    request = grants.ExchangeGrantRequest(
        request_id="r",
        grant=(await root_of(team)).statement,
        holder=ref(team.tenant, "other-service"),
        holder_key_id=team.tenant["other-service"].key_id,
        terms=below,
    )
    return Act("user", "ExchangeGrant", request)


async def revoking_a_grant(team: Team) -> Act:
    return Act(
        "admin", "RevokeGrant", grants.RevokeGrantRequest(request_id="r", grant_digest=(await root_of(team)).digest)
    )


async def putting_evidence(team: Team) -> Act:
    request = evidence.PutEvidenceRequest(request_id="r", content=b"seen", media_type="text/plain")
    return Act("user", "PutEvidence", request)


async def withdrawing(team: Team) -> Act:
    proposal = await proposed(team, "To be withdrawn.")
    return Act(
        "agent",
        "WithdrawProposal",
        proposals.WithdrawProposalRequest(request_id="r", proposal_id=proposal.proposal_id),
    )


async def validating(team: Team) -> Act:
    proposal = await proposed(team, "To be validated.")
    request = proposals.ValidateProposalRequest(request_id="r", proposal_id=proposal.proposal_id, revision=1)
    return Act("service", "ValidateProposal", request)


async def deciding_many(team: Team) -> Act:
    decisions = []
    for number in range(MANY):
        proposal = await proposed(team, f"To be approved {number}.")
        await team.service.validate(proposal)
        decisions.append(decision_on(proposal, Verdict.VERDICT_APPROVE))
    return Act(
        "admin", "DecideProposal", proposals.DecideProposalRequest(request_id="r", decisions=decisions), events=MANY
    )


def decision_on(proposal: Proposal, verdict: Verdict.Verdict.ValueType) -> proposals.ProposalDecision:
    return proposals.ProposalDecision(
        proposal_id=proposal.proposal_id,
        revision=proposal.revision,
        proposal_digest=proposal.message.proposal_digest,
        verdict=verdict,
    )


async def adopting(team: Team) -> Act:
    ready = await team.ready("To be adopted.")
    await team.commit(ready)
    decision = decision_on(ready.ground.proposal, Verdict.VERDICT_ADOPT)
    return Act("admin", "DecideProposal", proposals.DecideProposalRequest(request_id="r", **said(decision)))


async def taking_back(team: Team) -> Act:
    ready = await team.ready("To be taken back.")
    await team.commit(ready)
    decision = decision_on(ready.ground.proposal, Verdict.VERDICT_REVOKE)
    request = proposals.DecideProposalRequest(request_id="r", **said(decision))
    return Act("admin", "DecideProposal", request, events=2)


def said(message: Message) -> dict[str, Any]:
    return {field.name: value for field, value in message.ListFields()}


async def writing_unvalidated(team: Team) -> Act:
    request = memory.WriteUnvalidatedRecordRequest(
        request_id="r",
        memory_namespace=LEGACY,
        memory_type=types.MEMORY_TYPE_DURABLE_FACT,
        content=b"From before.",
        media_type="text/plain",
    )
    return Act("service", "WriteUnvalidatedRecord", request)


ACTS: Final[Mapping[str, Callable[[Team], Awaitable[Act]]]] = {
    made.__name__: made
    for made in (
        issuing_a_grant,
        exchanging_a_grant,
        revoking_a_grant,
        putting_evidence,
        withdrawing,
        validating,
        deciding_many,
        adopting,
        taking_back,
        writing_unvalidated,
    )
}


@pytest.fixture
async def teams(site: Site) -> AsyncIterator[dict[str, Team]]:
    """A tenant for each act, connected to the process that survives."""
    async with AsyncExitStack() as stack:
        made = {}
        for name in ACTS:
            tenant = await site.installation.tenant()
            async with site.installation.operator() as operator:
                new = NewMemoryNamespace(
                    tenant=tenant.ref,
                    name=LEGACY,
                    policy_version=bundle_version(default_bundle()),
                    mode=Mode.LEGACY,
                )
                await operator.administration.add_namespace(new, operator.clock.now())
            made[name] = await stack.enter_async_context(team_at(site.survivor.address, tenant))
        yield made


def told(site: Site, team: Team) -> int:
    """How many audit events the tenant has."""
    return int(site.storage.one("select count(*) from authority.audit_event where tenant = %s", str(team.tenant.ref)))


@pytest.mark.parametrize("is_durable", [False, True])
async def test_f10_killed_amid_every_act_that_governs(site: Site, teams: dict[str, Team], *, is_durable: bool) -> None:
    # Given every act under way: in its transaction, or about to commit
    acts = {name: await make(teams[name]) for name, make in ACTS.items()}
    before = {name: told(site, team) for name, team in teams.items()}
    doomed = await site.processes.serving(DOOMED | {"connections": "16"})
    async with AsyncExitStack() as stack:
        sides = {
            name: await stack.enter_async_context(team_at(doomed.address, team.tenant, retries=ONCE))
            for name, team in teams.items()
        }
        with gate(site.installation.admin_url, "audit_event", at_commit=is_durable) as closed:
            running = [asyncio.ensure_future(act.asked_of(sides[name])) for name, act in acts.items()]
            await eventually(lambda: len(closed.waiting()) == len(acts), f"{len(acts)} acts are inside the database")
            # When the service is killed, and what was sent to the database goes on
            await doomed.kill()
            closed.open()
            lost = await asyncio.gather(*running, return_exceptions=True)
    assert all(isinstance(one, Exception) for one in lost), lost
    # Then the same request is carried out elsewhere, or answered with what has happened, and happened once
    for name, act in acts.items():
        first = await act.asked_of(teams[name])
        second = await act.asked_of(teams[name])
        for answer in (first, second):
            if "replayed" in answer.DESCRIPTOR.fields_by_name:
                answer.ClearField("replayed")
        assert first == second, name
        assert told(site, teams[name]) - before[name] == act.events, name
