"""ADR-328, test 11: an idempotency key with different content conflicts; what a key and a capability stand for."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from capability_authority.client import Committed, Expired, IdempotencyConflict
from tests.installation.evidence import EVIDENCE
from tests.installation.installation import OTHER_NAMESPACE, Installation
from tests.installation.leases import has_lease
from tests.installation.processes import ServiceProcess, eventually
from tests.installation.storage import Storage
from tests.installation.team import Team, refused, team_at


@pytest.mark.parametrize(
    ("presented", "differs"),
    [
        ({"content": b"Another text."}, ["content_digest"]),
        ({"evidence_digests": [EVIDENCE[1], EVIDENCE[0]]}, ["evidence_digests"]),
        ({"content": b"[]", "media_type": "application/json"}, ["content_digest", "media_type"]),
    ],
    ids=["content", "evidence", "media_type"],
)
async def test_adr328_11_a12_a_settled_key_with_other_content_conflicts(
    team: Team, team_elsewhere: Team, storage: Storage, presented: dict[str, Any], differs: list[str]
) -> None:
    # Given a commit that is settled
    ready = await team.ready(evidence_digests=EVIDENCE[:2])
    first = await team.commit(ready)
    before = storage.dump()
    # When its key comes again with something else, at either process
    for member in (team, team_elsewhere):
        refusal = await refused(member.commit(ready, **presented), IdempotencyConflict)
        # Then it conflicts, and says in what
        assert refusal.differs == differs
    # And the first result stays what it was
    again = await team_elsewhere.commit(ready)
    assert (again.replayed, again.receipt.statement) == (True, first.receipt.statement)
    assert storage.dump() == before
    storage.assert_whole()


async def test_adr328_11_a_settled_key_with_another_proposal_conflicts(team: Team, storage: Storage) -> None:
    # Given a commit that is settled, and another proposal
    first = await team.ready("One thing.")
    committed = await team.commit(first)
    ground = await team.ground("Another thing.")
    other = await team.issue(ground)
    before = storage.dump()
    # When the other is committed, or even issued, under the first one's key
    at_commit = await refused(team.commit(other, commit_idempotency_key=first.key), IdempotencyConflict)
    await refused(team.issue(ground, first.key), IdempotencyConflict)
    # Then both conflict
    assert at_commit.differs == ["content_digest", "proposal_digest", "proposal_id"]
    assert storage.dump() == before
    assert (await team.commit(first)).receipt_id == committed.receipt_id
    assert not (await team.commit(other)).replayed
    storage.assert_whole()


async def test_adr328_11_a18_a_running_key_with_other_content_conflicts_at_once(
    installation: Installation, team: Team, team_elsewhere: Team, storage: Storage
) -> None:
    # Given a commit that runs, because a lock holds it up
    ready = await team.ready()
    with storage.transaction() as locking:
        head = "select 1 from authority.proposal_head where proposal_id = %s for update"
        locking.ask(head, ready.ground.proposal.proposal_id)
        running = asyncio.create_task(team.commit(ready))
        await eventually(lambda: has_lease(installation.redis_url, ready), "the first attempt has its lease")
        # When the key comes with other content, at either process
        for member in (team, team_elsewhere):
            refusal = await refused(member.commit(ready, content=b"Another text."), IdempotencyConflict)
            # Then it conflicts while the first still runs, of which nothing more is known
            assert refusal.differs == []
            assert not running.done()
    # And the first succeeds, and then it is known in what they differ
    assert not (await running).replayed
    settled = await refused(team_elsewhere.commit(ready, content=b"Another text."), IdempotencyConflict)
    assert settled.differs == ["content_digest"]
    storage.assert_whole()


async def test_a12_other_holders_and_tenants_have_keys_of_their_own(
    team: Team, services: tuple[ServiceProcess, ...], installation: Installation, storage: Storage
) -> None:
    # Given one key, used by two holders of one tenant, and by a third in another tenant, all for the same content
    key, content = "shared-key", "The same content."
    first = await team.commit(await team.ready(content, key=key))
    second = await _committed_by_other_service(team, content, key)
    async with team_at(services[1].address, await installation.tenant()) as strangers:
        third = await strangers.commit(await strangers.ready(content, key=key))
    # Then each has committed its own
    assert [one.replayed for one in (first, second, third)] == [False] * 3
    assert len({one.record_id for one in (first, second, third)}) == 3
    storage.assert_whole()


async def _committed_by_other_service(team: Team, content: str, key: str) -> Committed:
    proposal = await team.user.propose(memory_namespace=OTHER_NAMESPACE, memory_type="durable_fact", content=content)
    validation = await team.other_service.validate(proposal)
    decision = await team.other_service.evaluate_policy(proposal)
    capability = await team.other_service.issue(
        proposal,
        validation_receipt=validation.receipt,
        decision_receipt=decision.receipt,
        commit_idempotency_key=key,
    )
    return await team.other_service.commit(capability, content=content)


async def test_a12_e12_a_capability_issued_again_replays_also_with_the_expired_one(
    team: Team, team_elsewhere: Team, storage: Storage
) -> None:
    # Given a capability that expired, and the one issued again for the same key
    ground = await team.ground()
    expired = await team.issue(ground, "again", lifetime=timedelta(seconds=1))
    await eventually(lambda: datetime.now(UTC) > expired.capability.expire_time, "the capability expires")
    await refused(team.commit(expired), Expired)
    renewed = await team.issue(ground, "again")
    assert renewed.capability.capability_id != expired.capability.capability_id
    # When the new one was committed
    first = await team.commit(renewed)
    # Then both replay: what is settled beats what has expired since
    for member, ready in ((team, expired), (team_elsewhere, renewed)):
        again = await member.commit(ready)
        assert (again.replayed, again.receipt.statement) == (True, first.receipt.statement)
    storage.assert_whole()


async def test_a10_looking_at_a_capability_is_no_use_of_it(team: Team, team_elsewhere: Team, storage: Storage) -> None:
    # Given a capability that was looked at, ten times, in every way there is
    ready = await team.ready()
    for _ in range(10):
        assert (await team.service.verify(ready.capability, content=ready.content)).granted
        assert (await team_elsewhere.user.verify(ready.capability)).granted
    await team.user.get_proposal(ready.ground.proposal.proposal_id)
    # When it is committed, then it works, and looking tells that it did
    committed = await team.commit(ready)
    assert not committed.replayed
    assert (await team.user.verify(ready.capability)).receipt_id == committed.receipt_id
    storage.assert_whole()
