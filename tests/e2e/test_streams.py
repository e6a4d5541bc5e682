"""Streams of commits against real processes: who opens one, and what becomes of its items."""

import time
from typing import Any

import grpc
import pytest

from authority.domain.references import PrincipalRef
from capability_authority.v1.capability_service_pb2 import (
    CommitValidatedResponse,
    StreamCommitValidatedRequest,
    StreamCommitValidatedResponse,
)
from tests.installation.installation import Installation, Tenant
from tests.installation.processes import ServiceProcess
from tests.installation.requests import commit_of
from tests.installation.storage import Storage
from tests.installation.team import Ready, Team, all_of
from tests.installation.wire import Wire, wire_to
from tests.integration.rpc.running import reason_of

RPC = "StreamCommitValidated"
MINUTE_MS = 60_000


def item(tag: int, ready: Ready, **changed: Any) -> StreamCommitValidatedRequest:
    """A good item but for what is changed in its presentation."""
    return StreamCommitValidatedRequest(tag=tag, commit=commit_of(ready, **changed))


def results(outcomes: list[StreamCommitValidatedResponse]) -> dict[int, CommitValidatedResponse]:
    """What was committed, by tag. Nothing may have been refused."""
    assert [one for one in outcomes if one.outcome.WhichOneof("outcome") != "result"] == []
    return {one.tag: one.outcome.result for one in outcomes}


async def test_many_commits_on_one_stream_are_each_committed_once(team: Team, holder: Wire, storage: Storage) -> None:
    # Given many capabilities, one of them used before
    ready = await all_of(team.ready() for _ in range(60))
    settled = await team.commit(ready[0])
    before = storage.assert_whole().receipts
    # When all are committed on one stream
    stream = holder.stream()
    await stream.send(*(item(tag, one) for tag, one in enumerate(ready)))
    committed = results(await stream.close())
    # Then each has its receipt, and the one that was used gets the first
    assert sorted(committed) == list(range(60))
    assert [tag for tag, one in committed.items() if one.replayed] == [0]
    assert committed[0].receipt == settled.receipt.statement
    assert storage.assert_whole().receipts == before + 59


async def test_i17_twins_on_one_stream_are_answered_as_if_one_came_after_the_other(
    team: Team, holder: Wire, storage: Storage
) -> None:
    # Given one capability in four items, and four capabilities of one proposal
    twin, ground = await team.ready(), await team.ground()
    rivals = await all_of(team.issue(ground, f"rival-{number}") for number in range(4))
    before = storage.assert_whole().receipts
    stream = holder.stream()
    await stream.send(*(item(tag, one) for tag, one in enumerate([twin] * 4 + rivals)))
    outcomes = await stream.close()
    # Then there is one record of each
    twins = results([one for one in outcomes if one.tag < 4])
    assert sorted(one.replayed for one in twins.values()) == [False, True, True, True]
    assert len({one.receipt.SerializeToString() for one in twins.values()}) == 1
    others = [one.outcome for one in outcomes if one.tag >= 4]
    (winner,) = [one.result for one in others if one.WhichOneof("outcome") == "result"]
    refused = [reason_of(one) for one in others if one.WhichOneof("outcome") == "status"]
    assert refused == [("ALREADY_COMMITTED", {"receipt_id": winner.receipt_id})] * 3
    assert storage.assert_whole().receipts == before + 2


async def test_what_one_item_is_refused_for_is_its_own(team: Team, holder: Wire, storage: Storage) -> None:
    ready = await all_of(team.ready() for _ in range(3))
    before = storage.assert_whole().receipts
    stream = holder.stream()
    spoilt = item(1, ready[1], content=b"Another text.")
    await stream.send(item(0, ready[0]), spoilt, b"\x08\x09", item(2, ready[2]))
    outcomes = {one.tag: one.outcome for one in await stream.close()}
    assert reason_of(outcomes[1]) == ("BINDING_MISMATCH", {"term": "content_digest"})
    assert reason_of(outcomes[9])[0] == "MALFORMED"
    assert {tag for tag, one in outcomes.items() if one.WhichOneof("outcome") == "result"} == {0, 2}
    assert storage.assert_whole().receipts == before + 2
    # and nothing was burned
    assert not (await team.commit(ready[1])).replayed


# --- who opens one ----------------------------------------------------------------------------------------------------


async def test_i04_a_captured_proof_opens_no_second_stream_here_or_elsewhere(
    holder: Wire, services: tuple[ServiceProcess, ...], tenant: Tenant, storage: Storage
) -> None:
    # Given a proof that opened a stream
    proof = holder.proof(RPC, b"")
    assert await holder.stream(proofs=[proof]).close() == []
    before = storage.dump()
    # When it is sent again, to this process and to another
    for process in services:
        async with wire_to(process.address, tenant["service"]) as thief:
            failure = await thief.stream_refused(proofs=[proof])
        # Then it has been used
        assert (failure.code, failure.reason) == (grpc.StatusCode.PERMISSION_DENIED, "PROOF_REPLAYED")
    assert storage.dump() == before


MISFITS: dict[str, tuple[dict[str, Any], str]] = {
    "another_audience": ({"audience": "someone.else"}, "audience"),
    "i05_a_commit": ({"method": "/capability_authority.v1.CapabilityService/CommitValidated"}, "method"),
    "i05_some_request": ({"request_bytes": b"some"}, "request_digest"),
}


@pytest.mark.parametrize("misfit", MISFITS)
async def test_i05_a_proof_for_something_else_opens_no_stream(holder: Wire, misfit: str) -> None:
    changed, proof = MISFITS[misfit]
    failure = await holder.stream_refused(proofs=[holder.proof(RPC, b"", **changed)])
    assert (failure.code, failure.reason) == (grpc.StatusCode.PERMISSION_DENIED, "PROOF_INVALID")
    assert dict(failure.info.metadata) == {"proof": proof}


async def test_a_stream_is_opened_within_a_minute(holder: Wire) -> None:
    now = time.time_ns() // 1_000_000
    failure = await holder.stream_refused(proofs=[holder.proof(RPC, b"", issued_ms=now - MINUTE_MS)])
    assert (failure.reason, dict(failure.info.metadata)) == ("PROOF_INVALID", {"proof": "issue_time"})


async def test_i05_the_proof_of_a_stream_carries_no_call(team: Team, holder: Wire) -> None:
    proof = holder.proof(RPC, b"")
    failure = await holder.refused("CommitValidated", commit_of(await team.ready()), proofs=[proof])
    assert failure.reason == "PROOF_INVALID"


async def test_i06_a_stream_needs_exactly_one_proof(holder: Wire) -> None:
    one, other = holder.proof(RPC, b""), holder.proof(RPC, b"")
    for proofs in ([], [one, other], [one, one], [b""], [b"nonsense"]):
        failure = await holder.stream_refused(proofs=proofs)
        assert (failure.code, failure.reason) == (grpc.StatusCode.UNAUTHENTICATED, "CALLER_UNAUTHENTICATED")


async def test_who_may_not_commit_opens_no_stream(services: tuple[ServiceProcess, ...], tenant: Tenant) -> None:
    async with wire_to(services[0].address, tenant["agent"]) as agent:
        failure = await agent.stream_refused(proofs=[agent.proof(RPC, b"")])
    assert (failure.reason, dict(failure.info.metadata)) == ("NOT_ALLOWED", {"right": "commit"})


# --- who is revoked meanwhile -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["key", "principal"])
async def test_i11_whoever_is_revoked_meanwhile_commits_no_further_item(
    installation: Installation, tenant: Tenant, team: Team, holder: Wire, storage: Storage, what: str
) -> None:
    # Given an open stream on which something was committed
    first, second = await team.ready(), await team.ready()
    stream = holder.stream()
    await stream.send(item(1, first))
    assert await stream.outcome()
    # When its caller is revoked, and the operator was told so
    async with installation.operator() as operator:
        administration, now = operator.administration, operator.clock.now()
        if what == "key":
            await administration.revoke_principal_key(tenant.ref, tenant["service"].key_id, now)
        else:
            await administration.revoke_principal(tenant.ref, PrincipalRef(*tenant["service"].principal), now)
    before = storage.dump()
    await stream.send(item(2, second))
    # Then the next item is refused for that, and the stream ends so
    refused = await stream.outcome()
    assert refused
    assert (refused.tag, reason_of(refused.outcome)) == (2, ("CALLER_UNAUTHENTICATED", {}))
    failure = await stream.fails()
    assert (failure.code, failure.reason) == (grpc.StatusCode.UNAUTHENTICATED, "CALLER_UNAUTHENTICATED")
    assert storage.dump() == before
