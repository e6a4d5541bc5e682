"""What good requests become."""

from hashlib import sha256

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from authority.domain.capability import Presentation
from authority.domain.decision import ApprovalVerdict
from authority.domain.proposal import Cost, MemoryType, Visibility
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef
from authority.domain.refusal import Refusal
from authority.domain.statement import Statement
from authority.rpc.convert import capabilities, decisions, policies, proposals, receipts, values
from authority.rpc.convert.times import timestamp_message
from authority.rpc.refused import Refused
from authority.usecases.decide_proposal import ApprovalRequest
from authority.usecases.paging import PageRequest
from authority.usecases.read_receipts import ReceiptQuery
from capability_authority.v1 import capability_service_pb2, policy_service_pb2, proposal_service_pb2, types_pb2
from tests.unit.rpc.requests import CALLER, DEADLINE, DIGEST, RPCS, UUID

CONTENT = b'{"likes":"tea"}'
EVIDENCE = (bytes.fromhex("0" * 64), bytes.fromhex("1" * 64))


def test_a_proposal_request_keeps_every_field() -> None:
    request = RPCS["CreateProposal"].copy()
    assert isinstance(request, proposal_service_pb2.CreateProposalRequest)

    asked = proposals.proposal_request(CALLER, request)

    assert (asked.mark.tenant, asked.mark.principal, asked.mark.request_id) == (CALLER.tenant, CALLER.ref, "r1")
    assert (asked.proposal_id, asked.memory_namespace, asked.memory_type) == (
        UUID,
        "team-a/notes",
        MemoryType.PREFERENCE,
    )
    said = asked.said
    assert (said.content, said.media_type) == (CONTENT, "application/json")
    assert (said.source_refs, said.subject_refs, asked.evidence_digests) == (("chat/7",), ("user:ann",), EVIDENCE)
    assert (asked.validator_profile, said.visibility, said.visibility_scope) == ("baseline", Visibility.TEAM, "crew")
    assert (said.valid_from_time, said.valid_until_time) == (1_000_000, 2_000_000)
    assert said.record_expire_time == 3_000_005
    assert said.correlation_id == "trace-1"
    assert said.costs == (Cost("extraction", "m 1", 1, 2, 3),)


def test_absent_options_of_a_proposal_stay_absent() -> None:
    request = proposal_service_pb2.CreateProposalRequest(
        request_id="r1", memory_namespace="notes", memory_type=types_pb2.MEMORY_TYPE_SNAPSHOT, content=b"x"
    )
    request.media_type = "text/plain"

    asked = proposals.proposal_request(CALLER, request)

    said = asked.said
    assert (asked.proposal_id, asked.validator_profile, said.correlation_id) == ("", "", "")
    assert (said.visibility, said.valid_from_time, said.valid_until_time, said.record_expire_time) == (None,) * 4


def test_a_commit_request_carries_statement_presentation_and_deadline() -> None:
    request = RPCS["CommitValidated"].copy()
    assert isinstance(request, capability_service_pb2.CommitValidatedRequest)

    asked = capabilities.commit_request(request, DEADLINE)

    assert asked.capability == Statement("capability", b"payload", DIGEST, b"s" * 64)
    assert asked.presentation == Presentation(CONTENT, sha256(CONTENT).digest(), "application/json", EVIDENCE, "k1")
    assert asked.deadline == DEADLINE


def test_a_capability_can_be_verified_without_a_presentation() -> None:
    assert capabilities.optional_presentation(capability_service_pb2.VerifyCapabilityRequest()) is None


def test_an_issue_request_keeps_every_field() -> None:
    request = RPCS["IssueCapability"].copy()
    assert isinstance(request, capability_service_pb2.IssueCapabilityRequest)

    asked = capabilities.issue_request(CALLER, request, DEADLINE)

    assert (asked.proposal_id, asked.proposal_revision) == (UUID, 1)
    assert (asked.holder, asked.holder_key_id) == (PrincipalRef("acme", "committer"), DIGEST)
    assert (asked.audience, asked.commit_idempotency_key, asked.lifetime_ms) == ("authority.example", "k1", 900_000)
    assert (asked.validation_receipt.payload_type, asked.decision_receipt.payload_type) == ("validation", "decision")


def test_a_capability_lives_a_quarter_of_an_hour_unless_said_otherwise() -> None:
    request = RPCS["IssueCapability"].copy()
    assert isinstance(request, capability_service_pb2.IssueCapabilityRequest)
    request.ClearField("lifetime")

    assert capabilities.issue_request(CALLER, request, DEADLINE).lifetime_ms == 15 * 60 * 1000


def test_the_caller_would_commit_when_policy_is_asked_of_no_holder() -> None:
    request = policy_service_pb2.EvaluatePolicyRequest(request_id="r1", proposal_id=UUID, proposal_revision=3)

    asked = policies.policy_request(CALLER, request)

    assert (asked.holder, asked.proposal_revision) == (CALLER.ref, 3)


def test_a_decision_keeps_what_was_looked_at() -> None:
    request = RPCS["DecideProposal"].copy()
    assert isinstance(request, proposal_service_pb2.DecideProposalRequest)

    asked = decisions.approval_request(CALLER, request)

    assert (asked.proposal_digest, asked.verdict) == (EVIDENCE[0], ApprovalVerdict.APPROVE)
    assert (asked.note, asked.expire_time) == ("Looked at it.\nFine.", 4_000_000)


@pytest.mark.parametrize(
    ("request_message", "expected"),
    [
        (capability_service_pb2.GetCommitReceiptRequest(receipt_id=UUID), ReceiptQuery(UUID, "", "")),
        (capability_service_pb2.GetCommitReceiptRequest(record_id=UUID), ReceiptQuery("", UUID, "")),
        (capability_service_pb2.GetCommitReceiptRequest(commit_idempotency_key="k1"), ReceiptQuery("", "", "k1")),
    ],
)
def test_a_receipt_is_named_in_one_of_three_ways(
    request_message: capability_service_pb2.GetCommitReceiptRequest, expected: ReceiptQuery
) -> None:
    assert receipts.receipt_query(request_message) == expected


@pytest.mark.parametrize(("asked", "given"), [(0, 50), (1, 1), (200, 200)])
def test_a_page_has_fifty_items_unless_said_otherwise(asked: int, given: int) -> None:
    assert values.page(asked, "t") == PageRequest(given, "t")


@pytest.mark.parametrize("name", ["K1", "a", "A.b_c:d@e+f/g-h", "x" * 128])
def test_a09_keys_are_kept_byte_for_byte(name: str) -> None:
    assert values.key(name, "key") == name


@pytest.mark.parametrize("milliseconds", [0, 1, 999, 1_000, 253_402_300_799_999])
def test_instants_round_trip(milliseconds: int) -> None:
    request = RPCS["DecideProposal"].copy()
    assert isinstance(request, proposal_service_pb2.DecideProposalRequest)
    request.expire_time.CopyFrom(timestamp_message(Instant(milliseconds)))

    assert decisions.approval_request(CALLER, request).expire_time == milliseconds
    assert Timestamp(seconds=milliseconds // 1_000, nanos=milliseconds % 1_000 * 1_000_000) == request.expire_time


def test_many_decisions_have_one_mark_and_what_is_misshapen_is_refused_alone() -> None:
    one = RPCS["DecideProposal"].copy()
    assert isinstance(one, proposal_service_pb2.DecideProposalRequest)
    good = proposal_service_pb2.ProposalDecision(
        proposal_id=UUID, revision=1, proposal_digest=DIGEST, verdict=one.verdict, max_uses=3
    )
    bad = proposal_service_pb2.ProposalDecision(proposal_id=UUID)
    request = proposal_service_pb2.DecideProposalRequest(request_id="r1", decisions=[good, bad])

    mark, (asked, refused) = decisions.approval_requests(CALLER, request, "")

    assert isinstance(asked, ApprovalRequest)
    assert (mark.request_id, asked.max_uses, asked.proposal_digest) == ("r1", 3, EVIDENCE[0])
    assert isinstance(refused, Refusal)
    assert (refused.reason, refused.facts["field"]) == (Reason.MALFORMED, "verdict")


@pytest.mark.parametrize("field", ["proposal_id", "revision", "note", "verdict", "expire_time"])
def test_many_decisions_stand_beside_no_single_one(field: str) -> None:
    one = RPCS["DecideProposal"].copy()
    assert isinstance(one, proposal_service_pb2.DecideProposalRequest)
    request = proposal_service_pb2.DecideProposalRequest(
        request_id="r1", decisions=[proposal_service_pb2.ProposalDecision()] * 2
    )
    value = getattr(one, field)
    request.expire_time.CopyFrom(value) if field == "expire_time" else setattr(request, field, value)

    with pytest.raises(Refused) as refused:
        decisions.approval_requests(CALLER, request, "")

    assert refused.value.refusal.facts == {"field": field, "problem": "must be empty beside decisions"}


def test_more_decisions_than_a_batch_holds_are_over_the_limit() -> None:
    request = proposal_service_pb2.DecideProposalRequest(
        request_id="r1", decisions=[proposal_service_pb2.ProposalDecision()] * 513
    )

    with pytest.raises(Refused) as refused:
        decisions.approval_requests(CALLER, request, "")

    assert refused.value.refusal.reason is Reason.LIMIT_EXCEEDED


def test_one_of_many_commits_is_proven_by_nothing_in_it() -> None:
    item = RPCS["CommitValidated"].copy()
    assert isinstance(item, capability_service_pb2.CommitValidatedRequest)
    assert not isinstance(capabilities.commit_item(item, DEADLINE, ""), Refusal)

    item.upstream_envelope_json = "{}"

    refused = capabilities.commit_item(item, DEADLINE, "")
    assert isinstance(refused, Refusal)
    assert (refused.reason, refused.facts["field"]) == (Reason.MALFORMED, "upstream_envelope_json")
