"""The feed of revocations over the wire, on real processes, to verifiers that never ask anybody else."""

import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from itertools import pairwise

import pytest

from authority.domain.references import PrincipalRef
from capability_authority.client import CallerUnauthenticated, RevocationNews
from capability_authority.offline import RevocationFeed, Withdrawn, verify_as, verify_receipt
from capability_authority.v1.capability_service_pb2 import WatchRevocationsRequest
from capability_authority.v1.statements_pb2 import REVOKED_KIND_ISSUER_KEY, CommitCapability, Revocation
from capability_authority.v1.types_pb2 import TenantRef
from tests.installation.installation import Installation, Tenant
from tests.installation.processes import ServiceProcess
from tests.installation.team import Team
from tests.installation.wire import wire_to

RPC = "WatchRevocations"
FRESH_MS = 60_000


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def empty_feed(team: Team) -> RevocationFeed:
    tenant = team.tenant.ref
    return RevocationFeed(TenantRef(namespace=tenant.namespace, id=tenant.id))


async def test_an_offline_verifier_learns_what_was_withdrawn(team: Team, team_elsewhere: Team) -> None:
    # Given a verifier that follows the feed, with a capability and a receipt that it believes
    feed = empty_feed(team)
    ready = await team.ready()
    committed = await team.commit(await team.ready())
    key_set = await team.agent.key_set()
    capability, receipt = ready.capability.statement, committed.receipt.statement
    async with aclosing(team.agent.watch_revocations(feed)) as watch:
        await anext(watch)
        view = feed.view(now_ms=now_ms(), maximum_age_ms=FRESH_MS)
        verify_as(capability, key_set, CommitCapability, revocations=view)
        verify_receipt(receipt, key_set, revocations=view)

        # When both are withdrawn
        await team.service.revoke(ready.capability)
        await team.admin.revoke_record(committed.record_id)
        subjects: list[str] = []
        while len(subjects) < 2:
            news: RevocationNews = await anext(watch)
            subjects += [item.subject for item in news.revoked if item.kind != REVOKED_KIND_ISSUER_KEY]

    # Then it knows, and believes them no more
    assert subjects == [ready.capability.capability_id, committed.record_id]
    view = feed.view(now_ms=now_ms(), maximum_age_ms=FRESH_MS)
    with pytest.raises(Withdrawn):
        verify_as(capability, key_set, CommitCapability, revocations=view)
    with pytest.raises(Withdrawn):
        verify_receipt(receipt, key_set, revocations=view)

    # And the feed goes on at another process where it was, without a gap
    before = feed.cursor
    other = await team.ready()
    await team.service.revoke(other.capability)
    subjects = []
    async with aclosing(team_elsewhere.user.watch_revocations(feed)) as watch:
        while feed.cursor == before:
            news = await anext(watch)
            subjects += [item.subject for item in news.revoked if item.kind != REVOKED_KIND_ISSUER_KEY]
    assert subjects == [other.capability.capability_id]


async def test_items_name_the_one_before_and_come_the_same_from_both_processes(
    team: Team, services: tuple[ServiceProcess, ...], tenant: Tenant
) -> None:
    for _ in range(2):
        await team.service.revoke((await team.ready()).capability)
    told = []
    for process in services:
        async with wire_to(process.address, tenant["agent"]) as agent:
            message = await agent.watch(RPC, WatchRevocationsRequest()).message()
        told.append([statement.SerializeToString() for statement in message.revocations])
    assert told[0] == told[1]
    feed = empty_feed(team)
    taken: list[Revocation] = []
    async with aclosing(team.agent.watch_revocations(feed)) as watch:
        while feed.as_of_ms is None:
            taken += (await anext(watch)).revoked
    assert [later.previous_sequence for _, later in pairwise(taken)] == [one.sequence for one, _ in pairwise(taken)]


async def test_i11_whoever_is_revoked_is_told_nothing_more(
    installation: Installation, team: Team, tenant: Tenant
) -> None:
    async with aclosing(team.agent.watch_revocations()) as watch:
        while (await anext(watch)).feed.as_of_ms is None:
            pass
        async with installation.operator() as operator:
            agent = PrincipalRef(*tenant["agent"].principal)
            await operator.administration.revoke_principal(tenant.ref, agent, operator.clock.now())
        with pytest.raises(CallerUnauthenticated):
            await _to_the_end(watch)


async def _to_the_end(watch: AsyncIterator[RevocationNews]) -> None:
    async for _ in watch:
        pass


async def test_i04_the_proof_of_a_watch_opens_one(services: tuple[ServiceProcess, ...], tenant: Tenant) -> None:
    request = WatchRevocationsRequest()
    async with wire_to(services[0].address, tenant["agent"]) as agent:
        proof = agent.proof(RPC, request.SerializeToString())
        assert await agent.watch(RPC, request, proofs=[proof]).message()
        failure = await agent.watch(RPC, request, proofs=[proof]).fails()
    assert failure.reason == "PROOF_REPLAYED"
