"""Bad input over the wire: batches that are too many or too large, hold junk or the same again, or are not proven."""

from collections.abc import Iterable
from typing import Any

import grpc
import pytest
from grpc import aio

from capability_authority.client import CommitItem, Committed
from capability_authority.offline import PrivateKey
from capability_authority.v1.capability_service_pb2 import (
    BatchCommitValidatedRequest,
    BatchCommitValidatedResponse,
    CommitValidatedRequest,
)
from capability_authority.v1.statements_pb2 import SignedStatement
from tests.installation.forgery import altered
from tests.installation.installation import Installation, Tenant
from tests.installation.other_batches import other_batches
from tests.installation.processes import ServiceProcess
from tests.installation.requests import commit_of, digests
from tests.installation.storage import Storage
from tests.installation.team import Ready, Team, all_of, team_at
from tests.installation.wire import LIMIT_EXCEEDED, MALFORMED, Wire, assert_bad_shape, refusal_in, wire_to

RPC = "BatchCommitValidated"
MIB = 1024 * 1024


def batch_of(requests: Iterable[CommitValidatedRequest]) -> BatchCommitValidatedRequest:
    """The commits as one request."""
    return BatchCommitValidatedRequest(requests=requests)


async def sent(wire: Wire, batch: BatchCommitValidatedRequest, **how: Any) -> BatchCommitValidatedResponse:
    """The answer, with an outcome for each commit."""
    answer = BatchCommitValidatedResponse.FromString(await wire.send(RPC, batch, **how))
    assert len(answer.outcomes) == len(batch.requests)
    return answer


def told(answer: BatchCommitValidatedResponse) -> list[str]:
    """What each commit is answered with: "committed", "replayed", or the reason and field or term of its refusal."""
    return [
        refusal_in(one.status) if one.HasField("status") else "replayed" if one.result.replayed else "committed"
        for one in answer.outcomes
    ]


async def ready_ones(team: Team, count: int) -> list[Ready]:
    """So many capabilities, each on a proposal of its own."""
    return await all_of(team.ready() for _ in range(count))


async def test_i05_the_proof_of_a_batch_carries_no_other_batch(team: Team, holder: Wire, storage: Storage) -> None:
    # Given a batch of three good commits, a fourth one, and the batch's proof
    first, second, third, fourth = [commit_of(one) for one in await ready_ones(team, 4)]
    whole = batch_of([first, second, third])
    proof = holder.proof(RPC, whole.SerializeToString())
    before = storage.dump()
    # When it is sent with any other batch
    for name, commits in other_batches(first, second, third, fourth).items():
        failure = await holder.refused(RPC, batch_of(commits), proofs=[proof])
        # Then nobody's commit is judged: it is for another request, or that is no batch at all
        told_of = (failure.reason, dict(failure.info.metadata))
        fits_none = ("PROOF_INVALID", {"proof": "request_digest"})
        assert told_of == fits_none if commits else failure.reason == MALFORMED, name
    # And none for a single commit of it
    failure = await holder.refused("CommitValidated", first, proofs=[proof])
    assert failure.reason == "PROOF_INVALID"
    assert storage.dump() == before
    # And with the batch it was made for it is good, and good once more for a retry
    assert told(await sent(holder, whole, proofs=[proof])) == ["committed"] * 3
    assert told(await sent(holder, whole, proofs=[proof])) == ["replayed"] * 3
    storage.assert_whole()


async def test_a_batch_holds_512_and_not_one_more(team: Team, holder: Wire, storage: Storage) -> None:
    # Given one good commit, many times
    commit, before = commit_of(await team.ready()), storage.dump()
    # When there are 513, then the call is refused and nothing happens
    assert_bad_shape(await holder.refused(RPC, batch_of([commit] * 513)), LIMIT_EXCEEDED, "requests")
    assert storage.dump() == before
    # When there are 512, then each has its answer: the first commits, the others are its retries
    answer = await sent(holder, batch_of([commit] * 512))
    assert told(answer) == ["committed"] + ["replayed"] * 511
    assert len({one.result.receipt.SerializeToString() for one in answer.outcomes}) == 1
    storage.assert_whole()


async def test_a_batch_holds_three_mebibytes_and_not_a_byte_more(team: Team, holder: Wire, storage: Storage) -> None:
    # Given a good commit, and four of so much other content that they are 3 MiB together
    ready, before = await team.ready(), storage.dump()
    good = commit_of(ready)
    large = [commit_of(ready, content=b"x" * (700 * 1024)) for _ in range(4)]
    missing = 3 * MIB - batch_of([*large, good]).ByteSize()
    large[0].presentation.content += b"x" * missing
    batch = batch_of([*large, good])
    assert batch.ByteSize() == 3 * MIB
    # When there is one byte more, then the call is refused and nothing happens
    more = batch_of([*large, good])
    more.requests[0].presentation.content += b"x"
    assert_bad_shape(await holder.refused(RPC, more), LIMIT_EXCEEDED, "requests")
    assert storage.dump() == before
    # When there is not, then each has its answer
    assert told(await sent(holder, batch)) == ["BINDING_MISMATCH content_digest"] * 4 + ["committed"]
    storage.assert_whole()


async def test_f05_a_batch_beyond_the_transports_limit_never_arrives(
    team: Team, holder: Wire, storage: Storage
) -> None:
    ready, before = await team.ready(), storage.dump()
    with pytest.raises(aio.AioRpcError) as caught:
        await holder.send(RPC, batch_of([commit_of(ready, content=b"x" * MIB)] * 4))
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert storage.dump() == before
    assert told(await sent(holder, batch_of([commit_of(ready)]))) == ["committed"]


async def test_an_empty_batch_is_malformed(holder: Wire, storage: Storage) -> None:
    before = storage.dump()
    assert_bad_shape(await holder.refused(RPC, batch_of([])), MALFORMED, "requests")
    assert storage.dump() == before


async def test_junk_is_refused_alone_and_the_good_are_committed(
    team: Team, holder: Wire, installation: Installation, services: tuple[ServiceProcess, ...], storage: Storage
) -> None:
    # Given good commits between whatever a single commit would be refused for
    first, last, spoilt = await ready_ones(team, 3)
    good = commit_of(spoilt)
    async with team_at(services[0].address, await installation.tenant()) as strangers:
        foreign = commit_of(await strangers.ready())
    enveloped = CommitValidatedRequest(upstream_envelope_json="{}")
    enveloped.MergeFrom(good)
    forged = commit_of(spoilt)
    forged.capability.CopyFrom(altered(spoilt, lambda _: None, PrivateKey.generate()))
    other_statement = commit_of(spoilt)
    other_statement.capability.CopyFrom(spoilt.ground.decision.receipt)
    junk = [
        (CommitValidatedRequest(), "MALFORMED capability"),
        (CommitValidatedRequest(capability=good.capability), "MALFORMED presentation"),
        (CommitValidatedRequest(presentation=good.presentation), "MALFORMED capability"),
        (CommitValidatedRequest(capability=SignedStatement(), presentation=good.presentation), "MALFORMED capability"),
        (enveloped, "MALFORMED upstream_envelope_json"),
        (commit_of(spoilt, content=b"x" * (MIB + 1)), "LIMIT_EXCEEDED presentation.content"),
        (commit_of(spoilt, content=b""), "MALFORMED presentation.content"),
        (commit_of(spoilt, content=b"{}{}", media_type="application/json"), "MALFORMED presentation.content"),
        (commit_of(spoilt, media_type="application/octet-stream"), "MALFORMED presentation.media_type"),
        (commit_of(spoilt, evidence_digests=digests(65)), "LIMIT_EXCEEDED presentation.evidence_digests"),
        (commit_of(spoilt, evidence_digests=digests(1)), "BINDING_MISMATCH evidence_digests"),
        (commit_of(spoilt, commit_idempotency_key=""), "MALFORMED presentation.commit_idempotency_key"),
        (commit_of(spoilt, commit_idempotency_key="k1\n"), "MALFORMED presentation.commit_idempotency_key"),
        (commit_of(spoilt, commit_idempotency_key="another"), "BINDING_MISMATCH commit_idempotency_key"),
        (commit_of(spoilt, content=b"something else"), "BINDING_MISMATCH content_digest"),
        (foreign, "HOLDER_MISMATCH"),
        (forged, "ISSUER_UNKNOWN"),
        (other_statement, "MALFORMED capability.payload_type"),
    ]
    before = storage.assert_whole().receipts
    # When all go in one batch
    answer = await sent(holder, batch_of([commit_of(first), *(request for request, _ in junk), commit_of(last)]))
    # Then each is answered as it would be alone, and what is good is committed
    answers = told(answer)
    assert [answers[0], answers[-1]] == ["committed", "committed"]
    for said, (_, expected) in zip(answers[1:-1], junk, strict=True):
        assert said == expected or said.startswith(f"{expected}."), (said, expected)
    assert storage.assert_whole().receipts == before + 2
    # And what was presented wrongly has burned nothing (case A04)
    assert not (await team.commit(spoilt)).replayed


async def test_i17_twins_over_the_wire_are_answered_as_if_one_came_after_the_other(
    team: Team, holder: Wire, storage: Storage
) -> None:
    # Given the same commit twice, and two capabilities of one proposal
    twin, ground = await team.ready(), await team.ground()
    lower, upper = await team.issue(ground), await team.issue(ground)
    before = storage.assert_whole().receipts
    # When all four go in one batch, again and again
    batch = batch_of(map(commit_of, [twin, twin, lower, upper]))
    first, *again = [await sent(holder, batch) for _ in range(3)]
    # Then the lower index wins, its twin has the same receipt, and it stays so
    assert told(first) == ["committed", "replayed", "committed", "ALREADY_COMMITTED"]
    assert [told(answer) for answer in again] == [["replayed"] * 3 + ["ALREADY_COMMITTED"]] * 2
    receipts = [[one.result.receipt for one in answer.outcomes[:3]] for answer in (first, *again)]
    assert receipts[0] == receipts[1] == receipts[2]
    assert receipts[0][0] == receipts[0][1]
    assert storage.assert_whole().receipts == before + 2


async def test_d13_a_batch_that_cannot_be_read_is_refused_whole_and_says_where(
    team: Team, holder: Wire, storage: Storage
) -> None:
    # Given good commits, of which one holds a field that nobody knows, or text that is none
    first, second = [commit_of(one) for one in await ready_ones(team, 2)]
    unknown = CommitValidatedRequest()
    unknown.CopyFrom(second)
    unknown.presentation.MergeFromString(b"\xa2\x06\x01x")
    before = storage.dump()
    # When they are sent, then what is not understood is not acted on, not even in part
    failure = await holder.refused(RPC, batch_of([first, unknown]))
    assert_bad_shape(failure, MALFORMED, "requests[1].presentation.100")
    bad_text = batch_of([first]).SerializeToString() + b"\x0a\x03\x1a\x01\xff"
    assert (await holder.refused(RPC, bad_text)).reason == MALFORMED
    assert storage.dump() == before
    assert told(await sent(holder, batch_of([first, second]))) == ["committed", "committed"]


async def test_who_may_not_commit_is_told_nothing_of_the_items(
    team: Team, tenant: Tenant, services: tuple[ServiceProcess, ...], storage: Storage
) -> None:
    # Given good commits of a service
    batch, before = batch_of(map(commit_of, await ready_ones(team, 2))), storage.dump()
    # When the agent sends them, or nobody whom the registry knows
    async with wire_to(services[0].address, tenant["agent"]) as agent:
        refused = await agent.refused(RPC, batch)
        stranger = agent.proof(RPC, batch.SerializeToString(), private_key=PrivateKey.generate())
        unknown = await agent.refused(RPC, batch, proofs=[stranger])
    # Then the call is refused as a whole
    assert (refused.code, refused.reason) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_ALLOWED")
    assert (unknown.code, unknown.reason) == (grpc.StatusCode.UNAUTHENTICATED, "CALLER_UNAUTHENTICATED")
    # And another service, which may commit but holds none of them, is told of each that it is not its own
    async with wire_to(services[0].address, tenant["other-service"]) as other:
        assert told(await sent(other, batch)) == ["HOLDER_MISMATCH"] * 2
    assert storage.dump() == before


async def test_the_client_divides_what_one_call_may_not_hold(team: Team, storage: Storage) -> None:
    # Given more commits than a batch may hold, a few of which are new
    ready = await ready_ones(team, 3)
    items = [CommitItem(one.capability, content=one.content) for one in ready]
    before = storage.assert_whole().receipts
    answers = await team.service.commit_batch(items * 200)
    # Then each is there, and three were committed
    assert [isinstance(one, Committed) for one in answers] == [True] * 600
    assert sum(isinstance(one, Committed) and not one.replayed for one in answers) == 3
    assert storage.assert_whole().receipts == before + 3
