"""RevokeCapability over the wire: who may, what it says, and that every process keeps to it at once."""

from collections.abc import Callable
from uuid import uuid4

import grpc
import pytest

from capability_authority.client import (
    AlreadyCommitted,
    IdempotencyConflict,
    NotFound,
    Revocation,
    Revoked,
)
from capability_authority.offline import sha256
from capability_authority.v1.capability_service_pb2 import RevokeCapabilityRequest, RevokeCapabilityResponse
from tests.installation.installation import Installation, Tenant
from tests.installation.processes import ServiceProcess
from tests.installation.storage import Storage
from tests.installation.team import Team, barrier, refused, team_at
from tests.installation.wire import LIMIT_EXCEEDED, MALFORMED, Wire, assert_bad_shape, wire_to


async def test_a_revoked_capability_commits_nothing_in_any_process(
    team: Team, team_elsewhere: Team, storage: Storage
) -> None:
    # Given a capability that was good a moment ago
    ready = await team.ready()
    assert (await team_elsewhere.service.verify(ready.capability, content=ready.content)).granted
    # When its holder revokes it in one process
    revocation = await team.service.revoke(ready.capability)
    assert not revocation.replayed
    before = storage.dump("capability", "audit_event", "commit_receipt", "memory_record", "outbox")
    # Then nothing is committed with it, and whoever looks is told
    for member in (team_elsewhere, team):
        await refused(member.commit(ready), Revoked)
        verdict = await member.agent.verify(ready.capability, content=ready.content)
        assert (verdict.granted, verdict.reason, verdict.receipt_id) == (False, "REVOKED", "")
        # And revoking it again, by whomever, tells of the first time
        for again in (member.service, member.admin, member.other_service):
            assert await again.revoke(ready.capability.capability_id) == Revocation(
                revocation.revoke_time, replayed=True
            )
    assert storage.dump(*before) == before
    storage.assert_whole()


async def test_what_was_committed_stays_and_replays(team: Team, team_elsewhere: Team, storage: Storage) -> None:
    # Given a commit, whose receipt is cached
    ready = await team.ready()
    first = await team.commit(ready)
    before = storage.dump()
    # When its capability is to be revoked, then it is too late, and the receipt is named
    for member in (team, team_elsewhere):
        refusal = await refused(member.service.revoke(ready.capability), AlreadyCommitted)
        assert refusal.receipt_id == first.receipt_id
        assert (await member.commit(ready)).receipt.statement == first.receipt.statement
    assert storage.dump() == before
    storage.assert_whole()


async def test_a_retry_of_issuing_does_not_undo_it_and_a_new_request_does(
    team: Team, team_elsewhere: Team, storage: Storage
) -> None:
    # Given a capability issued under a request id, and revoked
    ground = await team.ground()
    first = await team.issue(ground, "k1", request_id="r1")
    await team.admin.revoke(first.capability)
    # When that request comes again, to whichever process, then it is told so
    for member in (team, team_elsewhere):
        refusal = await refused(member.issue(ground, "k1", request_id="r1"), Revoked)
        assert refusal.metadata["field"] == "request_id"
    # And a new request under the same commit key gets a new capability, which commits once
    second = await team.issue(ground, "k1", request_id="r2")
    assert second.capability.capability_id != first.capability.capability_id
    assert not (await team.commit(second)).replayed
    # And the revoked one, of the same key and content, is answered with that commit
    assert (await team_elsewhere.commit(first)).replayed
    storage.assert_whole()


async def test_a_request_id_of_another_revocation_is_a_conflict(team: Team, storage: Storage) -> None:
    one, other = await team.ready(), await team.ready()
    await team.service.revoke(one.capability, request_id="r1")
    before = storage.dump()
    await refused(team.service.revoke(other.capability, request_id="r1"), IdempotencyConflict)
    assert storage.dump() == before
    assert not (await team.commit(other)).replayed


async def test_i11_revocations_and_commits_of_two_processes_race_and_one_wins_everywhere(
    team: Team, team_elsewhere: Team, storage: Storage
) -> None:
    for _ in range(20):
        # Given a capability, when commits and revocations of it come together to two processes
        ready = await team.ready()
        members = (team, team_elsewhere) * 3
        answers = await barrier(
            call for member in members for call in (member.commit(ready), member.service.revoke(ready.capability))
        )
        # Then either all revocations came too late, or no commit happened
        committed = [answer for answer in answers[::2] if not isinstance(answer, Exception)]
        revoked = [answer for answer in answers[1::2] if not isinstance(answer, Exception)]
        assert {type(answer) for answer in answers if isinstance(answer, Exception)} <= {Revoked, AlreadyCommitted}
        assert sorted([len(committed), len(revoked)]) == [0, len(members)], answers
        storage.assert_whole()


# --- what is none of the caller's business ----------------------------------------------------------------------------


async def test_g02_whoever_has_no_business_with_it_cannot_tell_it_from_a_missing_one(
    team: Team,
    tenant: Tenant,
    installation: Installation,
    services: tuple[ServiceProcess, ...],
    storage: Storage,
) -> None:
    # Given a live, a revoked and a committed capability
    live, revoked, committed = await team.ready(), await team.ready(), await team.ready()
    await team.service.revoke(revoked.capability)
    await team.commit(committed)
    stranger = await installation.tenant()
    before = storage.dump()
    # When an agent and a user of the tenant, and the mighty of another one, ask for each, and for one never issued
    ids = [ready.capability.capability_id for ready in (live, revoked, committed)] + [str(uuid4())]
    answers = set()
    for caller in (tenant["agent"], tenant["user"], stranger["service"], stranger["admin"]):
        async with wire_to(services[0].address, caller) as wire:
            for capability_id in ids:
                request = RevokeCapabilityRequest(request_id=str(uuid4()), capability_id=capability_id)
                failure = await wire.refused("RevokeCapability", request)
                assert failure.code is grpc.StatusCode.NOT_FOUND
                assert failure.status
                answers.add(failure.status.SerializeToString())
    # Then every answer is the same to the last byte, and nothing has changed
    assert len(answers) == 1
    assert storage.dump() == before
    # And the neighbour's client says as much
    async with team_at(services[1].address, stranger) as strangers:
        await refused(strangers.admin.revoke(live.capability), NotFound)
    assert not (await team.commit(live)).replayed
    storage.assert_whole()


# --- bad input --------------------------------------------------------------------------------------------------------

ID = "0190f3a0-0000-7000-8000-000000000001"
BAD: dict[str, tuple[dict[str, str], str, str]] = {
    "no_request_id": ({"request_id": ""}, MALFORMED, "request_id"),
    "a09_request_id_with_a_space": ({"request_id": "r1 "}, MALFORMED, "request_id"),
    "g16_over_long_request_id": ({"request_id": "r" * 129}, LIMIT_EXCEEDED, "request_id"),
    "no_capability": ({"capability_id": ""}, MALFORMED, "capability_id"),
    "all_capabilities": ({"capability_id": "*"}, MALFORMED, "capability_id"),
    "a09_capability_with_a_newline": ({"capability_id": f"{ID}\n"}, MALFORMED, "capability_id"),
    "a09_capability_in_capitals": ({"capability_id": ID.upper()}, MALFORMED, "capability_id"),
    "c11_capability_with_nul": ({"capability_id": f"{ID[:-1]}\0"}, MALFORMED, "capability_id"),
    "over_long_capability": ({"capability_id": ID * 10_000}, MALFORMED, "capability_id"),
    "sql": ({"capability_id": "x' or true --"}, MALFORMED, "capability_id"),
}


@pytest.mark.parametrize("bad", BAD)
async def test_a_bad_request_is_refused_by_its_field(holder: Wire, storage: Storage, bad: str) -> None:
    changed, reason, field = BAD[bad]
    before = storage.dump()
    request = RevokeCapabilityRequest(**{"request_id": "r1", "capability_id": ID} | changed)
    assert_bad_shape(await holder.refused("RevokeCapability", request), reason, field)
    assert storage.dump() == before


@pytest.mark.parametrize("raw", [b"\x0a\x01\xff", b"\x0a", b"\xff\xff", b"\x1a\x01x"])
async def test_f07_bytes_that_are_no_request_are_malformed(holder: Wire, storage: Storage, raw: bytes) -> None:
    before = storage.dump()
    assert (await holder.refused("RevokeCapability", raw)).reason == MALFORMED
    assert storage.dump() == before


async def test_an_unknown_field_is_malformed(team: Team, holder: Wire, storage: Storage) -> None:
    # Given a good request with a field that a newer contract may have
    ready = await team.ready()
    good = RevokeCapabilityRequest(request_id="r1", capability_id=ready.capability.capability_id)
    before = storage.dump()
    assert (await holder.refused("RevokeCapability", good.SerializeToString() + b"\xfa\x01\x01x")).reason == MALFORMED
    assert storage.dump() == before


Proofs = Callable[[Wire, bytes], list[bytes]]
BAD_PROOFS: dict[str, tuple[Proofs, str]] = {
    "none": (lambda _, __: [], "CALLER_UNAUTHENTICATED"),
    "i06_two": (lambda wire, request: [wire.proof("RevokeCapability", request)] * 2, "CALLER_UNAUTHENTICATED"),
    "i05_of_another_rpc": (lambda wire, request: [wire.proof("ValidateProposal", request)], "PROOF_INVALID"),
    "i05_of_another_request": (
        lambda wire, request: [wire.proof("RevokeCapability", sha256(request))],
        "PROOF_INVALID",
    ),
}


@pytest.mark.parametrize("bad", BAD_PROOFS)
async def test_without_its_own_proof_nothing_is_revoked(team: Team, holder: Wire, storage: Storage, bad: str) -> None:
    proofs, reason = BAD_PROOFS[bad]
    ready = await team.ready()
    request = RevokeCapabilityRequest(request_id="r1", capability_id=ready.capability.capability_id).SerializeToString()
    before = storage.dump()
    assert (await holder.refused("RevokeCapability", request, proofs=proofs(holder, request))).reason == reason
    assert storage.dump() == before


async def test_i05_the_same_proof_again_is_a_retry(team: Team, holder: Wire) -> None:
    # Given a revocation, when its bytes come again, proof and all, then the first answer is given again
    ready = await team.ready()
    request = RevokeCapabilityRequest(request_id="r1", capability_id=ready.capability.capability_id).SerializeToString()
    proofs = [holder.proof("RevokeCapability", request)]
    first, again = [
        RevokeCapabilityResponse.FromString(await holder.send("RevokeCapability", request, proofs=proofs))
        for _ in range(2)
    ]
    assert (first.replayed, again.replayed) == (False, True)
    assert first.revoke_time == again.revoke_time
