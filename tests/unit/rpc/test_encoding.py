"""What domain values become on the wire: nothing is left out."""

from dataclasses import replace

import pytest
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from authority.domain import limits
from authority.domain.action_envelope import KeptEnvelope
from authority.domain.capability import CommitCapability, OpenedCapability
from authority.domain.decision import (
    COMMIT_ACTION,
    Approval,
    ApprovalVerdict,
    DeciderKind,
    DecisionOutcome,
    DecisionReceipt,
    SignedDecision,
)
from authority.domain.history import AuditTrail, RecordHistory, RecordState
from authority.domain.plan import StoredReceipt
from authority.domain.proposal import Cost, ProposalState
from authority.domain.reasons import Reason
from authority.domain.recall import RecallHit
from authority.domain.references import Instant, PrincipalRef
from authority.domain.refusal import Refusal
from authority.domain.statement import IssuerKey, KeyPurpose, KeyState
from authority.domain.validation import Finding, SignedValidation, ValidationOutcome, ValidationReceipt
from authority.domain.verify import Here
from authority.rpc.convert import (
    capabilities,
    citations,
    decisions,
    exports,
    keys,
    memory,
    policies,
    proposals,
    recall,
    receipts,
)
from authority.usecases.commit import CommitAnswer
from authority.usecases.export_record import ExportedRevision, ExportedTrail, RecordExport
from authority.usecases.paging import Page
from authority.usecases.ports import (
    IssuedCapability,
    RecordedApproval,
    RecordedValidation,
    RevokedCapability,
    RevokedRecord,
)
from authority.usecases.read_key_set import PublishedKeySet
from authority.usecases.read_proposals import FoundProposal
from authority.usecases.read_receipts import FoundReceipt
from authority.usecases.revoke_record import RevocationAnswer
from authority.usecases.verify_capability import CapabilityVerdict
from authority.usecases.weights import weight_of_proposal, weight_of_record
from capability_authority.v1 import memory_service_pb2, types_pb2
from capability_authority.v1.capability_service_pb2 import VerifyCapabilityResponse
from tests.unit.rpc.samples import CITATION, PROPOSAL, PROPOSER, RECORD, REVISION, STATEMENT, TENANT

STORED = StoredReceipt("c-1", "r-1", STATEMENT, b"f" * 32)


def _unset(message: Message) -> set[str]:
    return {field.name for field in message.DESCRIPTOR.fields} - {field.name for field, _ in message.ListFields()}


def test_every_field_of_a_proposal_is_sent() -> None:
    message = proposals.proposal_message(PROPOSAL)

    assert _unset(message) == set()
    assert MessageToDict(message, preserving_proto_field_name=True) == {
        "proposal_id": "p-1",
        "revision": 3,
        "state": "PROPOSAL_STATE_APPROVED",
        "memory_namespace": "notes",
        "proposer": {"namespace": "acme", "id": "agent-7"},
        "proposer_kind": "PRINCIPAL_KIND_AGENT",
        "provenance": "PROVENANCE_AGENT_OUTPUT",
        "memory_type": "MEMORY_TYPE_PROCEDURE",
        "content": "Y29udGVudA==",
        "content_digest": "sha256:" + "01" * 32,
        "media_type": "text/plain",
        "source_refs": ["chat/7", "chat/8"],
        "subject_refs": ["user:ann"],
        "evidence_digests": ["sha256:" + "02" * 32, "sha256:" + "03" * 32],
        "validator_profile": "baseline",
        "visibility": "VISIBILITY_TEAM",
        "visibility_scope": "crew",
        "valid_from_time": "1970-01-01T00:00:01Z",
        "valid_until_time": "1970-01-01T00:00:02.001Z",
        "record_expire_time": "1970-01-01T00:00:03.002Z",
        "correlation_id": "trace-1",
        "costs": [
            {"stage": "extraction", "model": "m1", "input_tokens": "10", "output_tokens": "20", "usd_micros": "30"}
        ],
        "proposal_digest": "sha256:" + "04" * 32,
        "create_time": "1970-01-01T00:00:04.003Z",
        "supersedes_record_id": "r-9",
        "expire_time": "1970-01-01T00:00:05.004Z",
        "actor_chain": [{"namespace": "acme", "id": "agent-7"}],
        "subject": {"namespace": "acme", "id": "agent-7"},
    }


def test_every_field_of_a_record_is_sent() -> None:
    message = memory.record_message(RECORD)

    assert _unset(message) == set()
    assert MessageToDict(message, preserving_proto_field_name=True) == {
        "record_id": "r-1",
        "memory_namespace": "notes",
        "memory_type": "MEMORY_TYPE_CRITIQUE",
        "provenance": "PROVENANCE_USER_CLAIM",
        "content": "Y29udGVudA==",
        "content_digest": "sha256:" + "05" * 32,
        "media_type": "text/plain",
        "proposer": {"namespace": "acme", "id": "agent-7"},
        "proposal_id": "p-1",
        "proposal_revision": 3,
        "receipt_id": "c-1",
        "source_refs": ["chat/7"],
        "subject_refs": ["user:ann"],
        "evidence_digests": ["sha256:" + "06" * 32],
        "visibility": "VISIBILITY_CHANNEL",
        "visibility_scope": "port",
        "valid_from_time": "1970-01-01T00:00:01Z",
        "valid_until_time": "1970-01-01T00:00:02.001Z",
        "expire_time": "1970-01-01T00:00:03.002Z",
        "create_time": "1970-01-01T00:00:04.003Z",
        "costs": [
            {"stage": "extraction", "model": "m1", "input_tokens": "10", "output_tokens": "20", "usd_micros": "30"}
        ],
        "correlation_id": "trace-1",
        "supersedes_record_id": "r-0",
        "validated": True,
    }


def test_instants_that_are_not_set_are_not_sent() -> None:
    endless = replace(RECORD, valid_from_time=None, valid_until_time=None, expire_time=None)

    assert _unset(memory.record_message(endless)) == {"valid_from_time", "valid_until_time", "expire_time"}


def test_a_revocation_is_sent_with_its_time() -> None:
    message = capabilities.revocation_response(RevokedCapability(Instant(1_001), replayed=True))

    assert MessageToDict(message, preserving_proto_field_name=True) == {
        "revoke_time": "1970-01-01T00:00:01.001Z",
        "replayed": True,
    }


def test_a_withdrawn_record_is_sent_with_its_time_sequence_and_token() -> None:
    revoked = RevokedRecord(Instant(1_001), 2**53, replayed=True)
    message = memory.revocation_response(RevocationAnswer(revoked, "token"))

    assert MessageToDict(message, preserving_proto_field_name=True) == {
        "revoke_time": "1970-01-01T00:00:01.001Z",
        "sequence": str(2**53),
        "replayed": True,
        "revision_token": "token",
    }


def test_statements_are_sent_byte_for_byte() -> None:
    response = receipts.receipt_response(FoundReceipt(STORED, STATEMENT))

    assert _unset(response) == set()
    assert response.receipt == response.attestation
    assert response.receipt.payload == STATEMENT.payload
    assert response.receipt.payload_type == STATEMENT.payload_type
    assert response.receipt.signature.key_id == STATEMENT.key_id
    assert response.receipt.signature.signature == STATEMENT.signature


def test_a_commit_answer_says_whether_it_was_replayed_and_needs_no_attestation() -> None:
    response = capabilities.commit_response(
        CommitAnswer(STORED, replayed=True, attestation=None, revision_token="fresh")
    )

    assert _unset(response) == {"attestation"}
    assert (response.receipt_id, response.record_id, response.revision_token) == ("c-1", "r-1", "fresh")


def test_a_page_of_receipts_carries_the_next_token() -> None:
    response = receipts.receipts_response(Page((STORED, STORED), "next"))

    assert [_unset(entry) for entry in response.receipts] == [set(), set()]
    assert response.next_page_token == "next"


def test_a_hit_says_how_well_it_matches_and_when_it_was_observed() -> None:
    hit = RecallHit(RECORD, 607_927, Instant(4_003))
    response = recall.recall_response(Page((hit, replace(hit, score=1)), "next"))

    assert [it.score_millionths for it in response.hits] == [607_927, 1]
    assert response.hits[0].record == memory.record_message(RECORD)
    assert _unset(response.hits[0]) == set()
    assert MessageToDict(response.hits[0])["observeTime"] == "1970-01-01T00:00:04.003Z"
    assert response.next_page_token == "next"


def test_a_citation_says_all_that_is_kept_of_it() -> None:
    response = citations.citations_response(Page((CITATION,), "next"))

    assert _unset(response) == set()
    assert _unset(response.citations[0]) == set()
    assert response.citations[0] == citations.citation_response(CITATION).citation
    assert response.citations[0].cited_by.id == "agent-7"


APPROVAL = Approval(
    reference="a-1",
    tenant=TENANT,
    proposal_id="p-1",
    proposal_revision=3,
    proposal_digest=b"\x04" * 32,
    validation_receipt_digest=b"\x08" * 32,
    verdict=ApprovalVerdict.APPROVE,
    decided_by=PROPOSER,
    decided_by_kind=DeciderKind.ADMIN,
    note="Fine.",
    decide_time=Instant(6_005),
    expire_time=Instant(7_006),
    holder=PROPOSER,
    max_uses=3,
    policy_version=b"\x09" * 32,
    determining_policies=("it",),
)


def test_an_export_says_all_that_is_known_of_a_record() -> None:
    trail = AuditTrail(
        capability=STATEMENT,
        validation=STATEMENT,
        decision=STATEMENT,
        approvals=(APPROVAL,),
        revisions=(REVISION,),
        citations=(CITATION,) * (limits.EXPORT_ITEMS + 1),
        envelope=KeptEnvelope(b"{}", b"d" * 32, "sha256:" + "0" * 64),
    )
    history = RecordHistory(
        record=RECORD,
        receipt=STORED,
        revoke_time=Instant(8_007),
        revoke_note="Wrong.",
        superseded_by="r-2",
        supersede_time=Instant(9_008),
        is_shown=True,
    )
    told = ExportedTrail(trail, [ExportedRevision("type", b"payload")], revisions_left_out=2)
    export = exports.export_response(RecordExport(history, RecordState.REVOKED, STATEMENT, Instant(1), told)).export

    assert [_unset(it) for it in (export, export.trail, export.trail.approvals[0], export.trail.revisions[0])] == [
        set()
    ] * 4
    assert export.state == memory_service_pb2.RECORD_STATE_REVOKED
    assert len(export.trail.citations) == limits.EXPORT_ITEMS
    # And compact it leaves out the trail alone
    compact = exports.export_response(RecordExport(history, RecordState.LIVE, None, Instant(1), None)).export
    assert _unset(compact) == {"attestation", "trail"}


def test_pages_of_proposals_and_records_keep_their_order() -> None:
    proposal_page = proposals.list_response(Page((PROPOSAL, replace(PROPOSAL, content=b"")), "next"))
    record_page = memory.list_response(Page((RECORD, replace(RECORD, record_id="r-2")), ""))

    assert [proposal.content for proposal in proposal_page.proposals] == [b"content", b""]
    assert [record.record_id for record in record_page.records] == ["r-1", "r-2"]
    assert (proposal_page.next_page_token, record_page.next_page_token) == ("next", "")


def test_a_proposal_comes_with_its_newest_validation() -> None:
    erased = replace(PROPOSAL, content=b"")
    decided = (APPROVAL,)
    assert _unset(proposals.get_response(FoundProposal(PROPOSAL, STATEMENT, decided))) == {"content_erased"}
    assert _unset(proposals.get_response(FoundProposal(erased, STATEMENT, decided))) == set()
    bare = {"content_erased", "validation_receipt", "decisions"}
    assert _unset(proposals.get_response(FoundProposal(PROPOSAL, None))) == bare


def test_a_granted_verdict_is_data() -> None:
    response = capabilities.verify_response(CapabilityVerdict(None, ""))

    assert response == VerifyCapabilityResponse(verdict=VerifyCapabilityResponse.VERDICT_GRANTED)


@pytest.mark.parametrize("reason", Reason)
def test_a_refusing_verdict_is_data_with_reason_facts_and_receipt(reason: Reason) -> None:
    response = capabilities.verify_response(CapabilityVerdict(Refusal(reason, {"term": "audience"}), "c-1"))

    assert MessageToDict(response) == {
        "verdict": "VERDICT_REFUSED",
        "reason": f"ERROR_REASON_{reason.name}",
        "facts": {"term": "audience"},
        "receiptId": "c-1",
    }


def test_an_issued_capability_says_when_it_expires() -> None:
    terms = CommitCapability(
        capability_id="cap-1",
        issuer="i",
        audience="a",
        tenant=TENANT,
        memory_namespace="notes",
        subject=PROPOSER,
        holder=PROPOSER,
        holder_key=b"k" * 32,
        action=COMMIT_ACTION,
        proposal_id="p-1",
        proposal_revision=1,
        proposal_digest=b"",
        content_digest=b"",
        media_type="text/plain",
        evidence_digests=(),
        validator_profile="baseline",
        validator_profile_version="1",
        validation_receipt_digest=b"",
        policy_version=b"",
        decision_receipt_digest=b"",
        approval_reference="",
        commit_idempotency_key="k1",
        not_before_time=Instant(0),
        expire_time=Instant(5_500),
        max_uses=1,
        correlation_id="",
        grant_digest=b"",
    )

    response = capabilities.issue_response(IssuedCapability(OpenedCapability(STATEMENT, b"", terms), replayed=True))

    assert _unset(response) == set()
    assert (response.capability_id, response.expire_time.ToMilliseconds()) == ("cap-1", 5_500)


def test_a_validation_is_readable_without_opening_the_receipt() -> None:
    findings = (Finding("schema", "1", ValidationOutcome.FAIL, "too_deep", 900),)
    receipt = ValidationReceipt(
        validation_id="v-1",
        issuer="i",
        tenant=TENANT,
        memory_namespace="notes",
        proposal_id="p-1",
        proposal_revision=1,
        proposal_digest=b"",
        validator_profile="baseline",
        validator_profile_version="1",
        findings=findings,
        outcome=ValidationOutcome.FAIL,
        validate_time=Instant(0),
        expire_time=Instant(1),
    )
    recorded = RecordedValidation(SignedValidation(receipt, STATEMENT, b""), ProposalState.REJECTED)

    response = proposals.validation_response(recorded)

    assert _unset(response) == set()
    assert MessageToDict(response, preserving_proto_field_name=True)["findings"] == [
        {
            "validator": "schema",
            "validator_version": "1",
            "outcome": "VALIDATION_OUTCOME_FAIL",
            "reason": "too_deep",
            "confidence_permille": 900,
        }
    ]
    assert (response.outcome, response.state) == (3, 4)


def test_an_approval_says_its_reference_and_what_it_left() -> None:
    response = decisions.approval_response(RecordedApproval("a-1", ProposalState.APPROVED))

    assert MessageToDict(response) == {"approvalReference": "a-1", "state": "PROPOSAL_STATE_APPROVED"}


def test_a_decision_is_readable_without_opening_the_receipt() -> None:
    receipt = DecisionReceipt(
        decision_id="d-1",
        issuer="i",
        tenant=TENANT,
        memory_namespace="notes",
        holder=PROPOSER,
        action=COMMIT_ACTION,
        proposal_id="p-1",
        proposal_revision=1,
        proposal_digest=b"",
        validation_receipt_digest=b"",
        approval_references=(),
        policy_version=b"\x07" * 32,
        outcome=DecisionOutcome.REQUIRE_APPROVAL,
        determining_policies=("agents-need-approval",),
        sequence=1,
        decide_time=Instant(0),
        expire_time=Instant(1),
        correlation_id="",
    )

    response = policies.policy_response(SignedDecision(receipt, STATEMENT, b""))

    assert _unset(response) == set()
    assert (response.policy_version, list(response.determining_policies)) == (
        "sha256:" + "07" * 32,
        ["agents-need-approval"],
    )


def test_the_key_set_tells_scope_and_compromise_only_where_there_is_any() -> None:
    everywhere = IssuerKey("k1", b"p" * 32, KeyPurpose.RECEIPT, KeyState.ACTIVE, Instant(1_000))
    narrow = IssuerKey("k2", b"q" * 32, KeyPurpose.GRANT, KeyState.REVOKED, Instant(1_000), Instant(2_000), TENANT, "n")

    published = PublishedKeySet(Here("issuer", "audience"), (everywhere, narrow), ("type",), "1.2.3")

    response = keys.key_set_response(published)

    assert _unset(response) == set()
    assert [_unset(key) for key in response.keys] == [
        {"compromised_since_time", "tenant", "memory_namespace"},
        set(),
    ]
    assert response.keys[1].state == types_pb2.KEY_STATE_REVOKED


refs = st.lists(st.text(max_size=30), max_size=6).map(tuple)
principals = st.builds(PrincipalRef, st.text(max_size=256), st.text(max_size=256))
big = st.integers(0, 2**63 - 1)
all_costs = st.lists(st.builds(Cost, st.text(max_size=40), st.text(max_size=40), big, big, big), max_size=4).map(tuple)
evidence = st.integers(0, 64).map(lambda count: (b"\xff" * 32,) * count)
instants = st.one_of(st.none(), st.integers(0, 253_402_300_799_999).map(Instant))


@given(refs=refs, proposer=principals, costs=all_costs, evidence=evidence, instant=instants, size=st.integers(0, 999))
def test_no_record_and_no_proposal_is_larger_than_its_weight(
    refs: tuple[str, ...],
    proposer: PrincipalRef,
    costs: tuple[Cost, ...],
    evidence: tuple[bytes, ...],
    instant: Instant | None,
    size: int,
) -> None:
    # Given a record and a proposal with as much in them as may be.
    record = replace(
        RECORD,
        source_refs=refs,
        subject_refs=refs,
        proposer=proposer,
        costs=costs,
        evidence_digests=evidence,
        expire_time=instant,
        content=b"x" * size,
        memory_namespace="n" * 256,
        correlation_id="c" * 256,
    )
    revision = replace(
        REVISION,
        source_refs=refs,
        subject_refs=refs,
        proposer=proposer,
        costs=costs,
        evidence_digests=evidence,
        memory_namespace="n" * 256,
        correlation_id="c" * 256,
        validator_profile="v" * 256,
    )
    proposal = replace(PROPOSAL, revision=revision, content=b"x" * size)

    # When they are sent in a page, then they take no more bytes there than they were weighed.
    assert memory.list_response(Page((record,), "")).ByteSize() <= weight_of_record(record)
    assert proposals.list_response(Page((proposal,), "")).ByteSize() <= weight_of_proposal(proposal)
