"""Refusals, replays and conflicts are counted over the wire; strangers fill no table (semantics §9, case G16)."""

import asyncio
from datetime import UTC, datetime, timedelta

from authority.domain.references import Instant
from capability_authority.client import (
    BindingMismatch,
    CommitItem,
    Committed,
    IssuedCapability,
    IssueItem,
    NotAllowed,
)
from capability_authority.offline import PrivateKey
from tests.installation.installation import Installation
from tests.installation.storage import Storage
from tests.installation.team import Ready, Team, refused, team_at
from tests.installation.wire import wire_to


async def commits_again(team: Team, ready: Ready, other: Ready) -> None:
    """What is committed comes again by every road; on two of them with a commit of the wrong content."""
    assert (await team.commit(ready)).replayed
    items = [CommitItem(ready.capability, content=ready.content), CommitItem(other.capability, content=b"another")]
    replay, refusal = await team.service.commit_batch(items)
    assert isinstance(replay, Committed)
    assert (replay.replayed, isinstance(refusal, BindingMismatch)) == (True, True)
    assert len([one async for one in team.service.commit_stream(items)]) == len(items)


async def issues_again(team: Team, other: Ready) -> None:
    """A live capability is asked for again, alone and in a batch."""
    assert (await team.issue(other.ground, other.key)).capability.replayed
    receipts = (other.ground.validation.receipt, other.ground.decision.receipt)
    item = IssueItem(
        other.ground.proposal,
        validation_receipt=receipts[0],
        decision_receipt=receipts[1],
        commit_idempotency_key=other.key,
    )
    (issued,) = await team.service.issue_batch([item])
    assert isinstance(issued, IssuedCapability)
    assert issued.replayed


async def revokes_twice(team: Team, capability: IssuedCapability, record_id: str) -> None:
    """A capability and a record are revoked, and again."""
    assert [(await team.service.revoke(capability)).replayed for _ in range(2)] == [False, True]
    assert [(await team.admin.revoke_record(record_id)).replayed for _ in range(2)] == [False, True]


async def reserves_again(team: Team) -> None:
    """An envelope is reserved, by the same request again, by another, and another envelope under its key."""
    soon = datetime.now(UTC) + timedelta(minutes=5)
    outcomes = []
    for request_id, digest in (("r", "0"), ("r", "0"), ("s", "0"), ("t", "1")):
        answer = await team.service.reserve_replay(
            "key", envelope_digest=f"sha256:{digest * 64}", expire_time=soon, request_id=request_id
        )
        outcomes.append((answer.outcome, answer.replayed))
    assert outcomes == [("reserved", False), ("reserved", True), ("replay", False), ("conflict", False)]


async def test_what_is_refused_and_replayed_is_counted_until_the_last_moment(installation: Installation) -> None:
    # Given a service of its own, which nothing else asks
    tenant = await installation.tenant()
    with installation.processes() as processes:
        service = await processes.serving()
        async with team_at(service.address, tenant) as team:
            # When everything that answers a retry is asked for again, and an agent is not allowed something
            ready, other = await team.ready(), await team.ready()
            committed = await team.commit(ready)
            await commits_again(team, ready, other)
            await issues_again(team, other)
            await revokes_twice(team, other.capability, committed.record_id)
            await reserves_again(team)
            await refused(team.agent.watch_audit_events().__anext__(), NotAllowed)
        service.terminate()
        assert await service.ends() == 0

    # Then each is counted, though the service ended before its next turn
    async with installation.operator() as operator:
        listed = await operator.administration.list_refusals(tenant.ref, Instant(0))
    counted = {(str(one.principal).partition("|")[2], one.reason): one.count for one in listed}
    assert counted == {
        ("service", "REPLAYED"): 7,
        ("service", "PROOF_REPLAYED"): 1,
        ("service", "IDEMPOTENCY_CONFLICT"): 1,
        ("service", "BINDING_MISMATCH"): 2,
        ("admin", "REPLAYED"): 1,
        ("agent", "NOT_ALLOWED"): 1,
    }


async def test_g16_strangers_fill_no_table(installation: Installation, storage: Storage) -> None:
    # Given calls of a hundred keys that nobody registered
    tenant = await installation.tenant()
    with installation.processes() as processes:
        service = await processes.serving()
        async with wire_to(service.address, tenant["agent"]) as stranger:

            async def call() -> str:
                proof = stranger.proof("ListMemoryRecords", b"", private_key=PrivateKey.generate())
                return (await stranger.refused("ListMemoryRecords", b"", proofs=[proof])).reason

            reasons = await asyncio.gather(*(call() for _ in range(100)))
        service.terminate()
        assert await service.ends() == 0
    # Then they are refused, and no row is written
    assert set(reasons) == {"CALLER_UNAUTHENTICATED"}
    rows = storage.ask("select * from authority.refusal_count where tenant = %s", str(tenant.ref))
    assert rows == []
