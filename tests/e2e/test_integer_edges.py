"""Every whole number of the contract at its edges: refused by its field, or kept; nothing wraps (case C15)."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from capability_authority.client import grant_terms
from capability_authority.client.rpcs import RPCS
from capability_authority.v1.capability_service_pb2 import (
    BatchCommitValidatedRequest,
    BatchCommitValidatedResponse,
    IssueCapabilityRequest,
    StreamCommitValidatedRequest,
    WatchRevocationsRequest,
)
from capability_authority.v1.evidence_service_pb2 import PutEvidenceRequest
from capability_authority.v1.grant_service_pb2 import GrantUse, IssueGrantRequest, VerifyGrantRequest
from capability_authority.v1.memory_service_pb2 import (
    CorrectRecordRequest,
    ExportRecordRequest,
    RecallRecordsRequest,
    WriteUnvalidatedRecordRequest,
)
from capability_authority.v1.proposal_service_pb2 import (
    DecideProposalRequest,
    DecideProposalResponse,
    GetProposalRequest,
    GetProposalResponse,
    ListProposalsRequest,
    ProposalDecision,
)
from capability_authority.v1.statements_pb2 import CommitCapability
from capability_authority.v1.types_pb2 import Cost, MemoryType, PrincipalRef
from tests.installation.forgery import altered_by_thief
from tests.installation.installation import NAMESPACE, Installation, Tenant
from tests.installation.processes import ServiceProcess
from tests.installation.requests import commit_of, digests, issue_of, proposal_of
from tests.installation.storage import Storage
from tests.installation.team import Ground, Team
from tests.installation.wire import LIMIT_EXCEEDED, MALFORMED, Wire, assert_bad_shape, refusal_in, wire_to

INT32: Final = (-(2**31), 2**31 - 1)
INT64: Final = (-(2**63), 2**63 - 1)
UINT64: Final = 2**64 - 1
DAY_S: Final = 86_400
WHOLE_NUMBERS: Final = frozenset(
    {
        FieldDescriptor.CPPTYPE_INT32,
        FieldDescriptor.CPPTYPE_INT64,
        FieldDescriptor.CPPTYPE_UINT32,
        FieldDescriptor.CPPTYPE_UINT64,
        FieldDescriptor.CPPTYPE_ENUM,
    }
)
TRIED: Final = frozenset(
    {
        "IssueCapabilityRequest.proposal_revision",
        "EvaluatePolicyRequest.proposal_revision",
        "GetProposalRequest.revision",
        "ValidateProposalRequest.revision",
        "DecideProposalRequest.revision",
        "DecideProposalRequest.verdict",
        "DecideProposalRequest.max_uses",
        "ProposalDecision.revision",
        "ProposalDecision.verdict",
        "ProposalDecision.max_uses",
        "GrantTerms.delegation_depth",
        "GrantedAmount.most",
        "GrantUse.usd_micros",
        "GrantUse.tokens",
        "GrantUse.latency_ms",
        "GrantUse.concurrency",
        "PutEvidenceRequest.visibility",
        "WriteUnvalidatedRecordRequest.memory_type",
        "WriteUnvalidatedRecordRequest.visibility",
        "ListCommitReceiptsRequest.page_size",
        "ListMemoryRecordsRequest.page_size",
        "ListProposalsRequest.page_size",
        "ListAuditEventsRequest.page_size",
        "ListCitationsRequest.page_size",
        "RecallRecordsRequest.page_size",
        "RecallRecordsRequest.memory_types",
        "RecallRecordsRequest.provenances",
        "ExportRecordRequest.form",
        "CorrectRecordRequest.memory_type",
        "CorrectRecordRequest.visibility",
        "WatchRevocationsRequest.cursor",
        "ListProposalsRequest.state",
        "CreateProposalRequest.memory_type",
        "CreateProposalRequest.visibility",
        "Cost.input_tokens",
        "Cost.output_tokens",
        "Cost.usd_micros",
        "StreamCommitValidatedRequest.tag",
        "Duration.seconds",
        "Duration.nanos",
        "Timestamp.seconds",
        "Timestamp.nanos",
    }
)
"""Every whole number that a request can hold; each has its edges below."""


def _numbers(message: Any, above: tuple[Any, ...] = ()) -> Iterator[str]:
    for field in message.fields:
        if field.cpp_type in WHOLE_NUMBERS:
            yield f"{message.name}.{field.name}"
        elif field.message_type is not None and field.message_type not in above:
            yield from _numbers(field.message_type, (*above, message))


def test_c15_no_number_of_a_request_is_left_out() -> None:
    assert {name for rpc in RPCS.values() for name in _numbers(rpc.request_class.DESCRIPTOR)} == TRIED


@pytest.fixture
async def admin(services: tuple[ServiceProcess, ...], tenant: Tenant) -> AsyncIterator[Wire]:
    async with wire_to(services[0].address, tenant["admin"]) as wire:
        yield wire


async def test_c15_revisions(team: Team, holder: Wire, admin: Wire, tenant: Tenant, storage: Storage) -> None:
    # Given a proposal that was validated and allowed
    ground = await team.ground()
    proposal_id, before = ground.proposal.proposal_id, storage.dump()
    named: dict[str, tuple[Wire, str, dict[str, Any]]] = {
        "EvaluatePolicy": (holder, "proposal_revision", {"request_id": "r"}),
        "ValidateProposal": (holder, "revision", {"request_id": "r"}),
        "GetProposal": (holder, "revision", {}),
        "DecideProposal": (
            admin,
            "revision",
            {
                "request_id": "r",
                "proposal_digest": ground.proposal.proposal_digest,
                "verdict": DecideProposalRequest.VERDICT_APPROVE,
            },
        ),
    }
    for rpc, (wire, field, others) in named.items():
        for number in (INT32[0], -1, *(() if rpc == "GetProposal" else (0,))):
            request = RPCS[rpc].request_class(proposal_id=proposal_id, **{field: number}, **others)
            # When a revision is named that there cannot be, then it is malformed
            assert_bad_shape(await wire.refused(rpc, request), MALFORMED, field)
        # And one that there could be is not found
        request = RPCS[rpc].request_class(proposal_id=proposal_id, **{field: INT32[1]}, **others)
        assert (await wire.refused(rpc, request)).reason == "NOT_FOUND", rpc
    for number in (INT32[0], -1, 0):
        request = issue_of(ground, tenant["service"], proposal_revision=number)
        assert_bad_shape(await holder.refused("IssueCapability", request), MALFORMED, "proposal_revision")
    largest = await holder.refused("IssueCapability", issue_of(ground, tenant["service"], proposal_revision=INT32[1]))
    assert largest.reason == "NOT_FOUND"
    # And what is more than the field can hold is read as protobuf reads it, and as a negative number is malformed
    over = IssueCapabilityRequest(proposal_id=proposal_id).SerializeToString() + b"\x18\x80\x80\x80\x80\x08"
    assert IssueCapabilityRequest.FromString(over).proposal_revision == INT32[0]
    good = issue_of(ground, tenant["service"]).SerializeToString() + b"\x18\x80\x80\x80\x80\x08"
    assert_bad_shape(await holder.refused("IssueCapability", good), MALFORMED, "proposal_revision")
    assert storage.dump() == before
    newest = GetProposalRequest(proposal_id=proposal_id, revision=0)
    answer = GetProposalResponse.FromString(await holder.send("GetProposal", newest))
    assert answer.proposal.revision == 1


@pytest.mark.parametrize(
    ("rpc", "most"),
    [
        ("ListCommitReceipts", 200),
        ("ListMemoryRecords", 200),
        ("ListProposals", 200),
        ("ListAuditEvents", 200),
        ("ListCitations", 200),
        ("RecallRecords", 100),
    ],
)
async def test_c15_page_sizes(team: Team, admin: Wire, rpc: str, most: int) -> None:
    committed = await team.commit(await team.ready())
    request_class = RPCS[rpc].request_class
    asked: dict[str, dict[str, str]] = {
        "ListAuditEvents": {},
        "ListCitations": {"record_id": committed.record_id},
        "RecallRecords": {"memory_namespace": NAMESPACE, "query": "fact"},
    }
    others = asked.get(rpc, {"memory_namespace": NAMESPACE})
    for size, reason in (
        (INT32[0], MALFORMED),
        (-1, MALFORMED),
        (most + 1, LIMIT_EXCEEDED),
        (INT32[1], LIMIT_EXCEEDED),
    ):
        request = request_class(page_size=size, **others)
        assert_bad_shape(await admin.refused(rpc, request), reason, "page_size")
    for size in (0, 1, most):
        await admin.send(rpc, request_class(page_size=size, **others))


async def test_c15_cursors_of_revocations(holder: Wire) -> None:
    # Also one that lies beyond everything that was ever told
    for cursor in (INT64[0], -1, INT64[1]):
        watch = holder.watch("WatchRevocations", WatchRevocationsRequest(cursor=cursor))
        assert_bad_shape(await watch.fails(), MALFORMED, "cursor")
    watch = holder.watch("WatchRevocations", WatchRevocationsRequest(cursor=0))
    assert await watch.message() is not None
    watch.call.cancel()


@pytest.mark.parametrize(
    ("lifetime", "reason"),
    [
        (Duration(seconds=INT64[0]), MALFORMED),
        (Duration(seconds=-1), MALFORMED),
        (Duration(seconds=0, nanos=999_000_000), MALFORMED),
        (Duration(seconds=1, nanos=-1_000_000), MALFORMED),
        (Duration(seconds=1, nanos=INT32[0]), MALFORMED),
        (Duration(seconds=1, nanos=INT32[1]), MALFORMED),
        (Duration(seconds=DAY_S, nanos=1_000_000), LIMIT_EXCEEDED),
        (Duration(seconds=INT64[1]), LIMIT_EXCEEDED),
        (Duration(seconds=INT64[1], nanos=999_000_000), LIMIT_EXCEEDED),
    ],
    ids=lambda one: one if isinstance(one, str) else f"{one.seconds}s{one.nanos}",
)
async def test_c15_lifetimes_that_cannot_be(
    team: Team, holder: Wire, tenant: Tenant, storage: Storage, lifetime: Duration, reason: str
) -> None:
    ground, before = await team.ground(), storage.dump()
    request = issue_of(ground, tenant["service"], lifetime=lifetime)
    assert_bad_shape(await holder.refused("IssueCapability", request), reason, "lifetime")
    assert storage.dump() == before


@pytest.mark.parametrize("seconds", [1, DAY_S])
async def test_c15_the_shortest_and_the_longest_lifetime_are_given_exactly(team: Team, seconds: int) -> None:
    ready = await team.issue(await team.ground(), lifetime=timedelta(seconds=seconds))
    terms = ready.capability.terms
    assert terms.expire_time.ToMilliseconds() - terms.not_before_time.ToMilliseconds() == seconds * 1_000


@pytest.mark.parametrize("field", ["valid_from_time", "valid_until_time", "record_expire_time"])
@pytest.mark.parametrize("seconds", [INT64[0], -1, 253_402_300_800, INT64[1]])
@pytest.mark.parametrize("nanos", [0, INT32[0], INT32[1]])
async def test_c15_instants_that_cannot_be(
    proposer: Wire, storage: Storage, field: str, seconds: int, nanos: int
) -> None:
    before = storage.dump()
    request = proposal_of(**{field: Timestamp(seconds=seconds, nanos=nanos)})
    assert_bad_shape(await proposer.refused("CreateProposal", request), MALFORMED, field)
    assert storage.dump() == before


@pytest.mark.parametrize(("seconds", "nanos"), [(INT64[0], 0), (-1, 0), (1, INT32[0]), (1, INT32[1]), (INT64[1], 0)])
async def test_c15_a_decision_that_would_end_when_no_time_is(
    team: Team, admin: Wire, storage: Storage, seconds: int, nanos: int
) -> None:
    ground, before = await team.ground(), storage.dump()
    request = DecideProposalRequest(
        request_id="r",
        proposal_id=ground.proposal.proposal_id,
        revision=1,
        proposal_digest=ground.proposal.proposal_digest,
        verdict=DecideProposalRequest.VERDICT_APPROVE,
        expire_time=Timestamp(seconds=seconds, nanos=nanos),
    )
    assert_bad_shape(await admin.refused("DecideProposal", request), MALFORMED, "expire_time")
    assert storage.dump() == before


async def test_c15_the_last_instant_of_all_is_kept(team: Team) -> None:
    last = datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)
    ready = await team.ready(
        record_expire_time=last, valid_until_time=last, valid_from_time=datetime(1970, 1, 1, tzinfo=UTC)
    )
    committed = await team.commit(ready)
    record = (await team.service.get_record(committed.record_id)).message
    assert record.expire_time.ToDatetime(tzinfo=UTC) == last
    assert record.valid_until_time.ToDatetime(tzinfo=UTC) == last
    assert record.valid_from_time.ToMilliseconds() == 0


@pytest.mark.parametrize("field", ["input_tokens", "output_tokens", "usd_micros"])
async def test_c15_costs(team: Team, proposer: Wire, storage: Storage, field: str) -> None:
    # Given costs that are less than nothing, also as bytes that hold one bit more than the largest number
    before = storage.dump()
    for number in (INT64[0], -1):
        request = proposal_of(costs=[Cost(stage="s"), Cost(stage="s", **{field: number})])  # type: ignore[arg-type]
        assert_bad_shape(await proposer.refused("CreateProposal", request), MALFORMED, f"costs[1].{field}")
    assert storage.dump() == before
    # When they are as large as can be, then proposal and record say so to the last unit
    largest = [Cost(stage="s", model="m", **{field: INT64[1]}) for _ in range(32)]
    ready = await team.ready(costs=largest)
    committed = await team.commit(ready)
    record = (await team.service.get_record(committed.record_id)).message
    assert list(ready.ground.proposal.message.costs) == list(record.costs) == largest


def _verdict_on(ground: Ground, **changed: Any) -> ProposalDecision:
    given: dict[str, Any] = {
        "proposal_id": ground.proposal.proposal_id,
        "revision": 1,
        "proposal_digest": ground.proposal.proposal_digest,
        "verdict": DecideProposalRequest.VERDICT_APPROVE,
    }
    return ProposalDecision(**given | changed)


@pytest.mark.parametrize(
    ("field", "number", "reason"),
    [
        *(("revision", number, MALFORMED) for number in (INT32[0], -1, 0)),
        *(("verdict", number, MALFORMED) for number in (INT32[0], -1, 0, INT32[1])),
        *(("max_uses", number, LIMIT_EXCEEDED) for number in (1_001, INT32[1])),
        *(("max_uses", number, MALFORMED) for number in (INT32[0], -1)),
    ],
)
async def test_c15_numbers_of_one_decision_of_many(
    team: Team, admin: Wire, storage: Storage, field: str, number: int, reason: str
) -> None:
    ground, before = await team.ground(), storage.dump()
    asked = DecideProposalRequest(request_id="r", decisions=[_verdict_on(ground, **{field: number})])
    answer = DecideProposalResponse.FromString(await admin.send("DecideProposal", asked))
    assert refusal_in(answer.outcomes[0].status) == f"{reason} {field}"
    assert storage.dump() == before


@pytest.mark.parametrize(
    ("number", "reason"), [(INT32[0], MALFORMED), (-1, MALFORMED), (1_001, LIMIT_EXCEEDED), (INT32[1], LIMIT_EXCEEDED)]
)
async def test_c15_uses_of_an_approval(team: Team, admin: Wire, storage: Storage, number: int, reason: str) -> None:
    ground, before = await team.ground(), storage.dump()
    request = DecideProposalRequest(
        request_id="r",
        proposal_id=ground.proposal.proposal_id,
        revision=1,
        proposal_digest=ground.proposal.proposal_digest,
        verdict=DecideProposalRequest.VERDICT_APPROVE,
        max_uses=number,
    )
    assert_bad_shape(await admin.refused("DecideProposal", request), reason, "max_uses")
    assert storage.dump() == before


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"delegation_depth": 9}, "terms.delegation_depth"),
        ({"delegation_depth": 2**32 - 1}, "terms.delegation_depth"),
        ({"uses": -1}, "terms.uses.most"),
        ({"usd_micros": INT64[0]}, "terms.usd_micros.most"),
    ],
)
async def test_c15_numbers_of_a_grants_terms(
    tenant: Tenant, admin: Wire, storage: Storage, changed: dict[str, int], field: str
) -> None:
    before, holder = storage.dump(), tenant["service"]
    reference = PrincipalRef(namespace=holder.principal.namespace, id=holder.principal.id)
    request = IssueGrantRequest(
        request_id="r",
        subject=reference,
        holder=reference,
        holder_key_id=holder.key_id,
        terms=grant_terms(**changed),  # type: ignore[arg-type] # by name
    )
    failure = await admin.refused("IssueGrant", request)
    assert_bad_shape(failure, failure.reason, field)
    assert failure.reason in (MALFORMED, LIMIT_EXCEEDED)
    assert storage.dump() == before


@pytest.mark.parametrize("field", ["usd_micros", "tokens", "latency_ms", "concurrency"])
@pytest.mark.parametrize("number", [INT64[0], -1])
async def test_c15_numbers_of_a_use_of_a_grant(
    team: Team, tenant: Tenant, admin: Wire, field: str, number: int
) -> None:
    holder = tenant["service"]
    grant = await team.admin.issue_grant(
        grant_terms(), subject=holder.principal, holder=holder.principal, holder_key_id=holder.key_id
    )
    use = GrantUse(action="memory.propose", audience="a", **{field: number})  # type: ignore[arg-type] # by name
    request = VerifyGrantRequest(grant=grant.statement, use=use)
    assert_bad_shape(await admin.refused("VerifyGrant", request), MALFORMED, f"use.{field}")


@pytest.mark.parametrize(
    ("rpc", "field"),
    [
        ("CreateProposal", "memory_type"),
        ("CreateProposal", "visibility"),
        ("ListProposals", "state"),
        ("DecideProposal", "verdict"),
        ("ExportRecord", "form"),
        ("CorrectRecord", "memory_type"),
        ("CorrectRecord", "visibility"),
        ("PutEvidence", "visibility"),
        ("WriteUnvalidatedRecord", "memory_type"),
        ("WriteUnvalidatedRecord", "visibility"),
    ],
)
@pytest.mark.parametrize("number", [INT32[0], -1, INT32[1]])
async def test_c15_numbers_that_stand_for_no_word(
    admin: Wire, storage: Storage, rpc: str, field: str, number: int
) -> None:
    before = storage.dump()
    good = {
        "CreateProposal": proposal_of(),
        "ListProposals": ListProposalsRequest(memory_namespace=NAMESPACE),
        "DecideProposal": DecideProposalRequest(
            request_id="r", proposal_id=str(uuid4()), revision=1, proposal_digest=digests(1)[0]
        ),
        "ExportRecord": ExportRecordRequest(record_id=str(uuid4())),
        "CorrectRecord": CorrectRecordRequest(
            request_id="r", record_id=str(uuid4()), content=b"Tea.", media_type="text/plain"
        ),
        "PutEvidence": PutEvidenceRequest(request_id="r", content=b"Tea.", media_type="text/plain"),
        "WriteUnvalidatedRecord": WriteUnvalidatedRecordRequest(
            request_id="r",
            memory_namespace=NAMESPACE,
            memory_type=MemoryType.MEMORY_TYPE_PREFERENCE,
            content=b"Tea.",
            media_type="text/plain",
        ),
    }[rpc]
    setattr(good, field, number)
    assert_bad_shape(await admin.refused(rpc, good), MALFORMED, field)
    assert storage.dump() == before


@pytest.mark.parametrize("field", ["memory_types", "provenances"])
@pytest.mark.parametrize("number", [INT32[0], -1, 0, INT32[1]])
async def test_c15_numbers_in_a_list_that_stand_for_no_word(admin: Wire, field: str, number: int) -> None:
    request = RecallRecordsRequest(memory_namespace=NAMESPACE, query="tea")
    getattr(request, field).extend([1, number])
    assert_bad_shape(await admin.refused("RecallRecords", request), MALFORMED, f"{field}[1]")


async def test_c15_tags_of_a_stream_come_back_as_they_were(team: Team, holder: Wire) -> None:
    tags = [0, 1, INT64[1], INT64[1] + 1, UINT64]
    stream = holder.stream()
    for tag in tags:
        await stream.send(StreamCommitValidatedRequest(tag=tag, commit=commit_of(await team.ready())))
    answers = await stream.close()
    assert sorted(answer.tag for answer in answers) == tags
    assert all(answer.outcome.HasField("result") for answer in answers)


@pytest.mark.parametrize("max_uses", [0, 2, 2**31, 2**32 - 1])
async def test_c15_a_capability_for_another_number_of_uses_is_malformed(
    team: Team, holder: Wire, installation: Installation, storage: Storage, max_uses: int
) -> None:
    # Given a capability that only a thief of the authority's key could make
    ready, before = await team.ready(), storage.dump()

    def change(terms: CommitCapability) -> None:
        terms.max_uses = max_uses

    request = commit_of(ready)
    request.capability.CopyFrom(altered_by_thief(installation, ready, change))
    failure = await holder.refused("CommitValidated", request)
    assert failure.reason == MALFORMED
    assert storage.dump() == before


@pytest.mark.parametrize("revision", [INT32[0], -1, 0, 2, INT32[1]])
async def test_c15_a_capability_for_another_revision_commits_nothing(
    team: Team, holder: Wire, installation: Installation, storage: Storage, revision: int
) -> None:
    ready = await team.ready()

    def change(terms: CommitCapability) -> None:
        terms.proposal_revision = revision

    request = commit_of(ready)
    request.capability.CopyFrom(altered_by_thief(installation, ready, change))
    failure = await holder.refused("CommitValidated", request)
    assert failure.reason == (MALFORMED if revision < 1 else "NOT_VALIDATED")
    storage.assert_whole()
    # And in a batch it is refused alone
    good = commit_of(await team.ready())
    batch = BatchCommitValidatedRequest(requests=[request, good])
    answer = BatchCommitValidatedResponse.FromString(await holder.send("BatchCommitValidated", batch))
    assert [one.WhichOneof("outcome") for one in answer.outcomes] == ["status", "result"]
