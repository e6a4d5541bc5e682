"""Bad input over the wire: batches of requests for capabilities that hold junk or the same again, or are not proven."""

from collections.abc import Iterable
from typing import Any

import grpc

from authority.domain.statement import KeyPurpose
from capability_authority.client import IssuedCapability, IssueItem
from capability_authority.offline import PrivateKey, sign
from capability_authority.v1.capability_service_pb2 import (
    BatchIssueCapabilitiesRequest,
    BatchIssueCapabilitiesResponse,
    IssueCapabilityRequest,
)
from capability_authority.v1.statements_pb2 import SignedStatement, ValidationReceipt
from capability_authority.v1.types_pb2 import PrincipalRef
from tests.installation.installation import Installation, Tenant
from tests.installation.other_batches import other_batches
from tests.installation.processes import ServiceProcess
from tests.installation.requests import issue_of
from tests.installation.storage import Storage
from tests.installation.team import Ground, Team, all_of, team_at
from tests.installation.wire import LIMIT_EXCEEDED, MALFORMED, Wire, assert_bad_shape, refusal_in, wire_to

RPC = "BatchIssueCapabilities"
MIB = 1024 * 1024
MADE_BY_ISSUING = ("capability", "request", "audit_event")


def batch_of(requests: Iterable[IssueCapabilityRequest]) -> BatchIssueCapabilitiesRequest:
    """The requests as one."""
    return BatchIssueCapabilitiesRequest(requests=requests)


async def sent(wire: Wire, batch: BatchIssueCapabilitiesRequest, **how: Any) -> BatchIssueCapabilitiesResponse:
    """The answer, with an outcome for each request."""
    answer = BatchIssueCapabilitiesResponse.FromString(await wire.send(RPC, batch, **how))
    assert len(answer.outcomes) == len(batch.requests)
    return answer


def told(answer: BatchIssueCapabilitiesResponse) -> list[str]:
    """What each request is answered with: "issued", "found", or the reason and field or term of its refusal."""
    return [
        refusal_in(one.status) if one.HasField("status") else "found" if one.result.replayed else "issued"
        for one in answer.outcomes
    ]


def issue_of_junk(good: IssueCapabilityRequest, size: int) -> IssueCapabilityRequest:
    """The request with so many bytes in place of a validation receipt."""
    request = IssueCapabilityRequest()
    request.CopyFrom(good)
    request.validation_receipt.payload = b"x" * size
    return request


async def test_i05_the_proof_of_a_batch_carries_no_other_batch(team: Team, holder: Wire, storage: Storage) -> None:
    # Given a batch of three good requests, a fourth one, and the batch's proof
    ground = await team.ground()
    first, second, third, fourth = [issue_of(ground, holder.credentials) for _ in range(4)]
    whole = batch_of([first, second, third])
    proof = holder.proof(RPC, whole.SerializeToString())
    before = storage.dump()
    # When it is sent with any other batch
    for name, requests in other_batches(first, second, third, fourth).items():
        failure = await holder.refused(RPC, batch_of(requests), proofs=[proof])
        # Then no request is judged: the proof is for another, or that is no batch at all
        told_of = (failure.reason, dict(failure.info.metadata))
        fits_none = ("PROOF_INVALID", {"proof": "request_digest"})
        assert told_of == fits_none if requests else failure.reason == MALFORMED, name
    # And none for a single request of it
    assert (await holder.refused("IssueCapability", first, proofs=[proof])).reason == "PROOF_INVALID"
    assert storage.dump() == before
    # And with the batch it was made for it is good, and good once more for a retry
    assert told(await sent(holder, whole, proofs=[proof])) == ["issued"] * 3
    assert told(await sent(holder, whole, proofs=[proof])) == ["found"] * 3


async def test_a_batch_holds_512_and_not_one_more(team: Team, holder: Wire, storage: Storage) -> None:
    # Given one good request, many times
    request, before = issue_of(await team.ground(), holder.credentials), storage.dump()
    # When there are 513, then the call is refused and nothing happens
    assert_bad_shape(await holder.refused(RPC, batch_of([request] * 513)), LIMIT_EXCEEDED, "requests")
    assert storage.dump() == before
    # When there are 512, then each has its answer: the first has a capability issued, the others find it
    answer = await sent(holder, batch_of([request] * 512))
    assert told(answer) == ["issued"] + ["found"] * 511
    assert len({one.result.capability.SerializeToString() for one in answer.outcomes}) == 1


async def test_a_batch_holds_three_mebibytes_and_not_a_byte_more(team: Team, holder: Wire, storage: Storage) -> None:
    # Given a good request, and so much junk before it that they are 3 MiB together
    good = issue_of(await team.ground(), holder.credentials)
    junk = [issue_of_junk(good, 31_000) for _ in range(96)]
    junk[0].validation_receipt.payload += b"x" * (3 * MIB - batch_of([*junk, good]).ByteSize())
    batch = batch_of([*junk, good])
    assert batch.ByteSize() == 3 * MIB
    # When there is one byte more, then the call is refused and nothing happens
    more_than_that = BatchIssueCapabilitiesRequest.FromString(batch.SerializeToString())
    more_than_that.requests[0].validation_receipt.payload += b"x"
    before = storage.dump()
    assert_bad_shape(await holder.refused(RPC, more_than_that), LIMIT_EXCEEDED, "requests")
    assert storage.dump() == before
    # When there is not, then each has its answer
    first, *others, last = told(await sent(holder, batch))
    assert first == "LIMIT_EXCEEDED validation_receipt.payload"
    assert {answer.partition(".")[0] for answer in others} == {"MALFORMED validation_receipt"}
    assert last == "issued"


async def test_an_empty_batch_is_malformed(holder: Wire, storage: Storage) -> None:
    before = storage.dump()
    assert_bad_shape(await holder.refused(RPC, batch_of([])), MALFORMED, "requests")
    assert storage.dump() == before


def forged(ground: Ground, key: PrivateKey) -> SignedStatement:
    """The validation receipt, signed by another key."""
    return sign(ValidationReceipt.FromString(ground.validation.receipt.payload), key)


async def test_junk_is_refused_alone_and_the_good_are_issued(
    team: Team,
    tenant: Tenant,
    holder: Wire,
    installation: Installation,
    services: tuple[ServiceProcess, ...],
    storage: Storage,
) -> None:
    # Given good requests between whatever a single one would be refused for
    ground, other = await all_of(team.ground("The same text.") for _ in range(2))
    own = holder.credentials
    done = await team.ready(key="done")
    settled = await team.commit(done)
    taken = issue_of(ground, own)
    assert told(await sent(holder, batch_of([taken]))) == ["issued"]
    async with team_at(services[0].address, await installation.tenant()) as strangers:
        foreign = await strangers.ground()
    agent = tenant["agent"]
    an_agent = PrincipalRef(namespace=agent.principal.namespace, id=agent.principal.id)
    junk = [
        (IssueCapabilityRequest(), "MALFORMED proposal_id"),
        (issue_of(ground, own, request_id=""), "MALFORMED request_id"),
        (issue_of(ground, own, request_id="r\n"), "MALFORMED request_id"),
        (issue_of(ground, own, proposal_id="1"), "MALFORMED proposal_id"),
        (issue_of(ground, own, proposal_revision=-1), "MALFORMED proposal_revision"),
        (issue_of(ground, own, proposal_revision=7), "NOT_FOUND proposal_id"),
        (issue_of(ground, own, holder=None), "MALFORMED holder"),
        (issue_of(ground, own, holder_key_id="sha256:00"), "MALFORMED holder_key_id"),
        (issue_of(ground, own, commit_idempotency_key="x" * 129), "LIMIT_EXCEEDED commit_idempotency_key"),
        (issue_of(ground, own, audience="elsewhere"), "BINDING_MISMATCH audience"),
        (issue_of(ground, own, grant=SignedStatement()), "MALFORMED grant"),
        (issue_of(ground, own, validation_receipt=ground.decision.receipt), "MALFORMED validation_receipt"),
        # I13: the validation of another proposal of the same content
        (
            issue_of(ground, own, validation_receipt=other.validation.receipt),
            "BINDING_MISMATCH validation_receipt_digest",
        ),
        # I10: receipts signed by a holder, and by the authority's key for capabilities
        (issue_of(ground, own, validation_receipt=forged(ground, own.signing_key)), "ISSUER_UNKNOWN"),
        (
            issue_of(ground, own, validation_receipt=forged(ground, installation.private_key(KeyPurpose.CAPABILITY))),
            "ISSUER_UNKNOWN",
        ),
        # I09: an agent as holder, and a service with the agent's key
        (issue_of(ground, own, holder=an_agent, holder_key_id=agent.key_id), "NOT_ALLOWED holder"),
        (issue_of(ground, own, holder_key_id=agent.key_id), "NOT_ALLOWED holder_key_id"),
        (issue_of(foreign, own), "NOT_FOUND proposal_id"),
        (issue_of(ground, own, request_id=taken.request_id), "IDEMPOTENCY_CONFLICT request_id"),
        (
            issue_of(other, own, commit_idempotency_key=taken.commit_idempotency_key),
            "IDEMPOTENCY_CONFLICT commit_idempotency_key",
        ),
        (issue_of(done.ground, own, commit_idempotency_key="done"), "ALREADY_COMMITTED"),
        (issue_of(done.ground, own), "ALREADY_COMMITTED"),
    ]
    before = {table: len(rows) for table, rows in storage.dump(*MADE_BY_ISSUING).items()}
    first, last = issue_of(ground, own), issue_of(other, own)
    # When all go in one batch
    answer = await sent(holder, batch_of([first, *(request for request, _ in junk), last]))
    # Then each is answered as it would be alone, and what is good is issued
    answers = told(answer)
    assert [answers[0], answers[-1]] == ["issued", "issued"]
    for said, (request, expected) in zip(answers[1:-1], junk, strict=True):
        assert said == expected or said.startswith(f"{expected}."), (said, expected)
        if request.proposal_id:
            alone = await holder.refused("IssueCapability", request)
            assert said.startswith(alone.reason), (said, alone.reason)
    # And of what is refused nothing stays, and nothing was burned
    after = {table: len(rows) for table, rows in storage.dump(*MADE_BY_ISSUING).items()}
    assert after == {table: count + 2 for table, count in before.items()}
    assert (await team.commit(done)).receipt.statement == settled.receipt.statement


async def test_i17_twins_over_the_wire_are_answered_as_if_one_came_after_the_other(
    team: Team, holder: Wire, storage: Storage
) -> None:
    # Given one request twice, its claim under another request id, its key for another proposal, its id for another key
    own = holder.credentials
    ground, other = await all_of(team.ground() for _ in range(2))
    twin = issue_of(ground, own, request_id="r", commit_idempotency_key="k")
    batch = batch_of(
        [
            twin,
            twin,
            issue_of(ground, own, request_id="s", commit_idempotency_key="k"),
            issue_of(other, own, commit_idempotency_key="k"),
            issue_of(ground, own, request_id="r", commit_idempotency_key="l"),
            issue_of(ground, own, request_id="t", commit_idempotency_key="l"),
        ]
    )
    before = len(storage.dump("capability")["capability"])
    # When all go in one batch, again and again
    first, *again = [await sent(holder, batch) for _ in range(3)]
    # Then the lower index wins, its twins have the same capability, and it stays so
    refused = ["IDEMPOTENCY_CONFLICT commit_idempotency_key", "IDEMPOTENCY_CONFLICT request_id"]
    assert told(first) == ["issued", "found", "found", *refused, "issued"]
    assert [told(answer) for answer in again] == [["found"] * 3 + refused + ["found"]] * 2
    for answer in (first, *again):
        assert len({one.result.capability.SerializeToString() for one in answer.outcomes[:3]}) == 1
    assert len({answer.outcomes[0].result.capability.SerializeToString() for answer in (first, *again)}) == 1
    assert len(storage.dump("capability")["capability"]) == before + 2


async def test_d13_a_batch_that_cannot_be_read_is_refused_whole_and_says_where(
    team: Team, holder: Wire, storage: Storage
) -> None:
    # Given good requests, of which one holds a field that nobody knows, or text that is none
    ground = await team.ground()
    first, second = [issue_of(ground, holder.credentials) for _ in range(2)]
    unknown = IssueCapabilityRequest()
    unknown.CopyFrom(second)
    unknown.validation_receipt.MergeFromString(b"\xa2\x06\x01x")
    before = storage.dump()
    # When they are sent, then what is not understood is not acted on, not even in part
    failure = await holder.refused(RPC, batch_of([first, unknown]))
    assert_bad_shape(failure, MALFORMED, "requests[1].validation_receipt.100")
    bad_text = batch_of([first]).SerializeToString() + b"\x0a\x03\x0a\x01\xff"
    assert (await holder.refused(RPC, bad_text)).reason == MALFORMED
    assert storage.dump() == before
    assert told(await sent(holder, batch_of([first, second]))) == ["issued", "issued"]


async def test_i09_who_may_neither_issue_nor_commit_is_told_nothing_of_the_items(
    team: Team, tenant: Tenant, services: tuple[ServiceProcess, ...], storage: Storage
) -> None:
    # Given good requests of a service, and what there is not
    service = tenant["service"]
    ground = await team.ground()
    absent = issue_of(ground, service, proposal_id="0190f3a0-0000-7000-8000-000000000001")
    batch, before = batch_of([issue_of(ground, service), absent]), storage.dump()
    # When the agent sends them, or nobody whom the registry knows
    async with wire_to(services[0].address, tenant["agent"]) as agent:
        refused = await agent.refused(RPC, batch)
        stranger = agent.proof(RPC, batch.SerializeToString(), private_key=PrivateKey.generate())
        unknown = await agent.refused(RPC, batch, proofs=[stranger])
    # Then the call is refused as a whole
    assert (refused.code, refused.reason) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_ALLOWED")
    assert (unknown.code, unknown.reason) == (grpc.StatusCode.UNAUTHENTICATED, "CALLER_UNAUTHENTICATED")
    assert storage.dump() == before
    # And an admin, who may issue for others and never holds, is told of each
    admin = tenant["admin"]
    an_admin = PrincipalRef(namespace=admin.principal.namespace, id=admin.principal.id)
    for_itself = issue_of(ground, service, holder=an_admin, holder_key_id=admin.key_id)
    async with wire_to(services[0].address, admin) as wire:
        answers = told(await sent(wire, batch_of([issue_of(ground, service), absent, for_itself])))
    assert answers == ["issued", "NOT_FOUND proposal_id", "NOT_ALLOWED"]


async def test_the_client_divides_what_one_call_may_not_hold(team: Team, storage: Storage) -> None:
    # Given more requests than a batch may hold, of a few claims
    ground = await team.ground()
    items = [
        IssueItem(
            ground.proposal,
            validation_receipt=ground.validation.receipt,
            decision_receipt=ground.decision.receipt,
            commit_idempotency_key=f"k{number % 3}",
        )
        for number in range(600)
    ]
    before = len(storage.dump("capability")["capability"])
    answers = await team.service.issue_batch(items, timeout=60.0)
    # Then each is there, and three were issued
    assert [isinstance(one, IssuedCapability) for one in answers] == [True] * 600
    assert sum(isinstance(one, IssuedCapability) and not one.replayed for one in answers) == 3
    assert len(storage.dump("capability")["capability"]) == before + 3
