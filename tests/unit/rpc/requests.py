"""One good request of each RPC that has a shape to check, and how each is decoded."""

from collections.abc import Callable
from dataclasses import dataclass

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from authority.domain.identity import RIGHTS_BY_KIND, Caller, Principal, PrincipalKind, Proof
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.rpc.convert import (
    audit,
    capabilities,
    citations,
    decisions,
    evidence,
    exports,
    grant_verdicts,
    grants,
    interop,
    memory,
    policies,
    proposals,
    recall,
    receipts,
    unvalidated,
    values,
)
from authority.rpc.convert.digests import digest
from authority.rpc.convert.statements import statement
from authority.rpc.refused import Refused
from capability_authority.v1 import (
    audit_service_pb2,
    capability_service_pb2,
    evidence_service_pb2,
    grant_service_pb2,
    interop_service_pb2,
    memory_service_pb2,
    policy_service_pb2,
    proposal_service_pb2,
    types_pb2,
)
from capability_authority.v1.statements_pb2 import (
    GrantedAmount,
    GrantedFlag,
    GrantedNames,
    Signature,
    SignedStatement,
)

CALLER = Caller(
    Principal(
        TenantRef("acme", "t1"),
        PrincipalRef("acme", "committer"),
        PrincipalKind.SERVICE,
        RIGHTS_BY_KIND[PrincipalKind.SERVICE],
    ),
    "sha256:" + "a" * 64,
    Proof(b"nonce-of-16-byte", None),
    one_use=False,
)
DIGEST = "sha256:" + "0" * 64
OTHER_DIGEST = "sha256:" + "1" * 64
UUID = "0190f3a0-0000-7000-8000-000000000001"
DEADLINE = 12.5

_HOLDER = types_pb2.PrincipalRef(namespace="acme", id="committer")


def _statement(payload_type: str) -> SignedStatement:
    signature = Signature(key_id=DIGEST, signature=b"s" * 64)
    return SignedStatement(payload_type=payload_type, payload=b"payload", signature=signature)


def _presentation() -> capability_service_pb2.Presentation:
    return capability_service_pb2.Presentation(
        content=b'{"likes":"tea"}',
        media_type="application/json",
        evidence_digests=[DIGEST, OTHER_DIGEST],
        commit_idempotency_key="k1",
    )


_NAMES = GrantedNames(names=["a/*"])
_TERMS = grant_service_pb2.GrantTerms(
    audiences=GrantedNames(names=["authority.example"]),
    actions=GrantedNames(names=["memory.commit-validated"]),
    resources=_NAMES,
    read_memory_namespaces=_NAMES,
    write_memory_namespaces=_NAMES,
    tools=_NAMES,
    providers=_NAMES,
    models=_NAMES,
    usd_micros=GrantedAmount(most=1),
    tokens=GrantedAmount(most=2),
    latency_ms=GrantedAmount(most=3),
    concurrency=GrantedAmount(most=4),
    uses=GrantedAmount(most=5),
    network=GrantedFlag(allowed=True),
    destructive=GrantedFlag(allowed=True),
    delegation_depth=2,
)
_ISSUE = capability_service_pb2.IssueCapabilityRequest(
    request_id="r1",
    proposal_id=UUID,
    proposal_revision=1,
    holder=_HOLDER,
    holder_key_id=DIGEST,
    audience="authority.example",
    commit_idempotency_key="k1",
    validation_receipt=_statement("validation"),
    decision_receipt=_statement("decision"),
    lifetime=Duration(seconds=900),
    grant=_statement("grant"),
    grant_ancestors=[_statement("grant")],
)


_FILTER = audit_service_pb2.AuditFilter(
    kind="memory.revoke", actor=types_pb2.PrincipalRef(namespace="acme", id="ann"), subject=UUID, correlation_id="run-1"
)


ENVELOPE_JSON = b"""
{
  "schemaVersion": "cognitum.action.v1",
  "eventId": "event-1",
  "issuer": "ruflo.policy",
  "audience": "ruflo.memory",
  "subject": {"namespace": "ruflo-agent", "id": "agent 7"},
  "tenantRef": {"namespace": "cognitum-tenant", "id": "t1"},
  "action": "memory.recall",
  "resourceRefs": ["notes"],
  "requestDigest": "sha256:0000000000000000000000000000000000000000000000000000000000000000",
  "correlationId": "run-1",
  "authoritativeSource": {
    "authority": "ruflo.memory",
    "tenantRef": {"namespace": "cognitum-tenant", "id": "t1"},
    "sourceType": "ruflo.memory/recall",
    "sourceId": "source-1",
    "sourceVersion": "1",
    "sourceDigest": "sha256:0000000000000000000000000000000000000000000000000000000000000000"
  },
  "policyReceiptId": "policy-1",
  "capabilityId": "grant-1",
  "occurredAt": "2026-07-28T12:00:00.000Z",
  "expiresAt": "2026-07-28T12:05:00.000Z",
  "privacyClass": "P1"
}
"""
"""An envelope that upstream's schema allows, without its signature; what it names is nobody's."""


@dataclass(frozen=True, slots=True)
class Rpc:
    """A request that is good, and the decoding of any request of its type."""

    good: Message
    decode: Callable[[Message], object]

    def copy(self) -> Message:
        """A good request to be spoiled."""
        spoiled = type(self.good)()
        spoiled.CopyFrom(self.good)
        return spoiled


def _decode_verify(request: Message) -> object:
    assert isinstance(request, capability_service_pb2.VerifyCapabilityRequest)
    return statement(request, "capability"), capabilities.optional_presentation(request)


def _decode_get_record(request: Message) -> object:
    assert isinstance(request, memory_service_pb2.GetMemoryRecordRequest)
    return values.uuid(request.record_id, "record_id")


def _decode_list(request: Message) -> object:
    assert isinstance(request, memory_service_pb2.ListMemoryRecordsRequest)
    namespace = values.identifier(request.memory_namespace, "memory_namespace")
    return namespace, values.page(request.page_size, request.page_token)


def _decode_list_proposals(request: Message) -> object:
    assert isinstance(request, proposal_service_pb2.ListProposalsRequest)
    namespace = values.identifier(request.memory_namespace, "memory_namespace")
    return namespace, proposals.listed_state(request), values.page(request.page_size, request.page_token)


def _decode_list_receipts(request: Message) -> object:
    assert isinstance(request, capability_service_pb2.ListCommitReceiptsRequest)
    namespace = values.identifier(request.memory_namespace, "memory_namespace")
    return namespace, values.page(request.page_size, request.page_token)


def _decode_list_audit(request: Message) -> object:
    assert isinstance(request, audit_service_pb2.ListAuditEventsRequest)
    return audit.list_filter(request), values.page(request.page_size, request.page_token)


def _decode_watch_audit(request: Message) -> object:
    assert isinstance(request, audit_service_pb2.WatchAuditEventsRequest)
    return audit.filter_of(request.filter), audit.cursor(request)


def _decode_watch_revocations(request: Message) -> object:
    assert isinstance(request, capability_service_pb2.WatchRevocationsRequest)
    return (values.count(request.cursor, "cursor"),)


def _decode_list_citations(request: Message) -> object:
    assert isinstance(request, memory_service_pb2.ListCitationsRequest)
    return citations.cited(request), values.page(request.page_size, request.page_token)


def _decode_get_proposal(request: Message) -> object:
    assert isinstance(request, proposal_service_pb2.GetProposalRequest)
    return values.uuid(request.proposal_id, "proposal_id"), proposals.newest_or_revision(request)


def _decode_unvalidated(request: Message) -> object:
    assert isinstance(request, memory_service_pb2.WriteUnvalidatedRecordRequest)
    return unvalidated.unvalidated_request(CALLER, request, "")


def _decode_policy_version(request: Message) -> object:
    assert isinstance(request, policy_service_pb2.GetPolicyVersionRequest)
    return digest(request.policy_version, "policy_version")


def _decode_export(request: Message) -> object:
    assert isinstance(request, memory_service_pb2.ExportRecordRequest)
    return values.uuid(request.record_id, "record_id"), exports.form_of(request.form, "form")


def _decode_get_grant(request: Message) -> object:
    assert isinstance(request, grant_service_pb2.GetGrantRequest)
    return digest(request.grant_digest, "grant_digest")


def _decode_resolve(request: Message) -> object:
    assert isinstance(request, interop_service_pb2.ResolveKeyRequest)
    return interop.key_name(request.key_id)


def _with_caller(decode: Callable[..., object]) -> Callable[[Message], object]:
    return lambda request: decode(CALLER, request)


def _decode_issue(request: Message) -> object:
    assert isinstance(request, capability_service_pb2.IssueCapabilityRequest)
    return capabilities.issue_request(CALLER, request, DEADLINE)


def _decode_issue_batch(request: Message) -> object:
    assert isinstance(request, capability_service_pb2.BatchIssueCapabilitiesRequest)
    return capabilities.issue_batch_request(CALLER, request, DEADLINE)


def _decode_commit_batch(request: Message) -> object:
    assert isinstance(request, capability_service_pb2.BatchCommitValidatedRequest)
    return capabilities.commit_batch_request(request, DEADLINE, "")


def _decode_revoke_record(request: Message) -> object:
    assert isinstance(request, memory_service_pb2.RevokeRecordRequest)
    return memory.revocation_request(CALLER, request, "")


def refusal_of(decode: Callable[[], object]) -> Refusal | None:
    """Why the decoding refuses, or None when it does not."""
    try:
        decode()
    except Refused as refused:
        return refused.refusal
    return None


def _alone(decode: Callable[..., object]) -> Callable[[Message], object]:
    return decode


RPCS: dict[str, Rpc] = {
    "IssueCapability": Rpc(
        _ISSUE,
        _decode_issue,
    ),
    "BatchIssueCapabilities": Rpc(
        capability_service_pb2.BatchIssueCapabilitiesRequest(
            requests=[capability_service_pb2.IssueCapabilityRequest(request_id="r1"), _ISSUE]
        ),
        _decode_issue_batch,
    ),
    "VerifyCapability": Rpc(
        capability_service_pb2.VerifyCapabilityRequest(
            capability=_statement("capability"), presentation=_presentation()
        ),
        _decode_verify,
    ),
    "CommitValidated": Rpc(
        capability_service_pb2.CommitValidatedRequest(
            capability=_statement("capability"), presentation=_presentation()
        ),
        lambda request: capabilities.commit_request(request, DEADLINE),  # type: ignore[arg-type] # the RPC's own type
    ),
    "BatchCommitValidated": Rpc(
        capability_service_pb2.BatchCommitValidatedRequest(requests=[capability_service_pb2.CommitValidatedRequest()]),
        _decode_commit_batch,
    ),
    "RevokeCapability": Rpc(
        capability_service_pb2.RevokeCapabilityRequest(request_id="r1", capability_id=UUID),
        _with_caller(capabilities.revocation_request),
    ),
    "IssueGrant": Rpc(
        grant_service_pb2.IssueGrantRequest(
            request_id="r1",
            subject=types_pb2.PrincipalRef(namespace="acme", id="mira"),
            holder=_HOLDER,
            holder_key_id=DIGEST,
            terms=_TERMS,
            lifetime=Duration(seconds=3_600),
            policy_version=DIGEST,
            correlation_id="trace-1",
        ),
        _with_caller(grants.grant_request),
    ),
    "ExchangeGrant": Rpc(
        grant_service_pb2.ExchangeGrantRequest(
            request_id="r1",
            grant=_statement("grant"),
            grant_ancestors=[_statement("grant")],
            holder=_HOLDER,
            holder_key_id=DIGEST,
            terms=_TERMS,
            lifetime=Duration(seconds=3_600),
            correlation_id="trace-1",
        ),
        _with_caller(grants.exchange_request),
    ),
    "RevokeGrant": Rpc(
        grant_service_pb2.RevokeGrantRequest(request_id="r1", grant_digest=DIGEST),
        _with_caller(grants.revocation_request),
    ),
    "VerifyGrant": Rpc(
        grant_service_pb2.VerifyGrantRequest(
            grant=_statement("grant"),
            grant_ancestors=[_statement("grant")],
            use=grant_service_pb2.GrantUse(
                action="memory.propose",
                audience="authority.example",
                resource="docs/a",
                read_memory_namespace="notes",
                write_memory_namespace="notes",
                tool="search",
                provider="local",
                model="small/1",
                usd_micros=1,
                tokens=2,
                latency_ms=3,
                concurrency=4,
                network=True,
                destructive=True,
            ),
        ),
        _alone(grant_verdicts.grant_question),
    ),
    "GetGrant": Rpc(grant_service_pb2.GetGrantRequest(grant_digest=DIGEST), _decode_get_grant),
    "GetCommitReceipt": Rpc(
        capability_service_pb2.GetCommitReceiptRequest(receipt_id=UUID), _alone(receipts.receipt_query)
    ),
    "CreateProposal": Rpc(
        proposal_service_pb2.CreateProposalRequest(
            request_id="r1",
            proposal_id=UUID,
            memory_namespace="team-a/notes",
            memory_type=types_pb2.MEMORY_TYPE_PREFERENCE,
            content=b'{"likes":"tea"}',
            media_type="application/json",
            source_refs=["chat/7"],
            subject_refs=["user:ann"],
            evidence_digests=[DIGEST, OTHER_DIGEST],
            validator_profile="baseline",
            visibility=types_pb2.VISIBILITY_TEAM,
            visibility_scope="crew",
            valid_from_time=Timestamp(seconds=1_000),
            valid_until_time=Timestamp(seconds=2_000),
            record_expire_time=Timestamp(seconds=3_000, nanos=5_000_000),
            correlation_id="trace-1",
            costs=[types_pb2.Cost(stage="extraction", model="m 1", input_tokens=1, output_tokens=2, usd_micros=3)],
            expire_time=Timestamp(seconds=1_500),
        ),
        _with_caller(proposals.proposal_request),
    ),
    "GetProposal": Rpc(proposal_service_pb2.GetProposalRequest(proposal_id=UUID, revision=0), _decode_get_proposal),
    "ValidateProposal": Rpc(
        proposal_service_pb2.ValidateProposalRequest(request_id="r1", proposal_id=UUID, revision=1),
        _with_caller(proposals.validation_request),
    ),
    "DecideProposal": Rpc(
        proposal_service_pb2.DecideProposalRequest(
            request_id="r1",
            proposal_id=UUID,
            revision=1,
            proposal_digest=DIGEST,
            verdict=proposal_service_pb2.DecideProposalRequest.VERDICT_APPROVE,
            note="Looked at it.\nFine.",
            expire_time=Timestamp(seconds=4_000),
        ),
        _with_caller(decisions.approval_request),
    ),
    "WithdrawProposal": Rpc(
        proposal_service_pb2.WithdrawProposalRequest(request_id="r1", proposal_id=UUID),
        _with_caller(proposals.withdrawal),
    ),
    "EvaluatePolicy": Rpc(
        policy_service_pb2.EvaluatePolicyRequest(
            request_id="r1",
            proposal_id=UUID,
            proposal_revision=1,
            holder=_HOLDER,
            external_decisions=[_statement("decision")],
        ),
        _with_caller(policies.policy_request),
    ),
    "GetPolicyVersion": Rpc(policy_service_pb2.GetPolicyVersionRequest(policy_version=DIGEST), _decode_policy_version),
    "RevokeRecord": Rpc(
        memory_service_pb2.RevokeRecordRequest(request_id="r1", record_id=UUID, note="Wrong."), _decode_revoke_record
    ),
    "RecallRecords": Rpc(
        memory_service_pb2.RecallRecordsRequest(
            memory_namespace="notes",
            query="tea",
            memory_types=[types_pb2.MEMORY_TYPE_SNAPSHOT],
            provenances=[types_pb2.PROVENANCE_USER_CLAIM],
            source_refs=["chat/7"],
            subject_refs=["user:ann"],
            created_after_time=Timestamp(seconds=1_000),
            created_before_time=Timestamp(seconds=2_000),
            page_size=10,
            page_token="token",
            at_least_as_fresh_as="token",
            grant=_statement("grant"),
            grant_ancestors=[_statement("parent")],
            include_unvalidated=True,
        ),
        _with_caller(recall.recall_request),
    ),
    "ExportRecord": Rpc(
        memory_service_pb2.ExportRecordRequest(record_id=UUID, form=memory_service_pb2.ExportRecordRequest.FORM_AUDIT),
        _decode_export,
    ),
    "RegisterCitation": Rpc(
        memory_service_pb2.RegisterCitationRequest(
            request_id="r1", record_id=UUID, citing_kind="answer", citing_ref="chat/7, answer 3"
        ),
        _with_caller(citations.citation_request),
    ),
    "ListCitations": Rpc(
        memory_service_pb2.ListCitationsRequest(
            content=memory_service_pb2.ListCitationsRequest.Content(memory_namespace="notes", content_digest=DIGEST),
            page_size=10,
            page_token="token",
        ),
        _decode_list_citations,
    ),
    "CorrectRecord": Rpc(
        memory_service_pb2.CorrectRecordRequest(
            request_id="r1",
            record_id=UUID,
            memory_type=types_pb2.MEMORY_TYPE_PREFERENCE,
            content=b'{"likes":"tea"}',
            media_type="application/json",
            source_refs=["chat/7"],
            subject_refs=["user:ann"],
            evidence_digests=[DIGEST, OTHER_DIGEST],
            validator_profile="baseline",
            visibility=types_pb2.VISIBILITY_TEAM,
            visibility_scope="crew",
            valid_from_time=Timestamp(seconds=1_000),
            valid_until_time=Timestamp(seconds=2_000),
            record_expire_time=Timestamp(seconds=3_000, nanos=5_000_000),
            correlation_id="trace-1",
            costs=[types_pb2.Cost(stage="extraction", model="m 1", input_tokens=1, output_tokens=2, usd_micros=3)],
        ),
        _with_caller(memory.correction),
    ),
    "PutEvidence": Rpc(
        evidence_service_pb2.PutEvidenceRequest(
            request_id="r1",
            reference=evidence_service_pb2.PutEvidenceRequest.Reference(uri="s3://logs/7", digest=DIGEST),
            media_type="application/sarif+json",
            visibility=types_pb2.VISIBILITY_TEAM,
            visibility_scope="crew",
            claim=_statement("evidence-claim"),
        ),
        _with_caller(evidence.evidence_request),
    ),
    "ReadEvidence": Rpc(evidence_service_pb2.ReadEvidenceRequest(digest=DIGEST), _with_caller(evidence.evidence_query)),
    "ResolveKey": Rpc(interop_service_pb2.ResolveKeyRequest(key_id="loader/key-1"), _decode_resolve),
    "ReserveReplay": Rpc(
        interop_service_pb2.ReserveReplayRequest(
            request_id="r1",
            replay_key="11:ruflo.policy9:7:tenants2:t1",
            envelope_digest=DIGEST,
            expire_time=Timestamp(seconds=4_000),
        ),
        _with_caller(interop.replay_request),
    ),
    "VerifyActionEnvelope": Rpc(
        interop_service_pb2.VerifyActionEnvelopeRequest(envelope_json=ENVELOPE_JSON, key_id=DIGEST),
        _alone(interop.envelope_question),
    ),
    "WriteUnvalidatedRecord": Rpc(
        memory_service_pb2.WriteUnvalidatedRecordRequest(
            request_id="r1",
            tenant=types_pb2.TenantRef(namespace="acme", id="t1"),
            memory_namespace="notes",
            memory_type=types_pb2.MEMORY_TYPE_PREFERENCE,
            content=b'{"likes":"tea"}',
            media_type="application/json",
            source_refs=["chat/7"],
            subject_refs=["user:ann"],
            visibility=types_pb2.VISIBILITY_TEAM,
            visibility_scope="crew",
            valid_from_time=Timestamp(seconds=1_000),
            valid_until_time=Timestamp(seconds=2_000),
            record_expire_time=Timestamp(seconds=3_000, nanos=5_000_000),
            correlation_id="trace-1",
            costs=[types_pb2.Cost(stage="extraction", model="m 1", input_tokens=1, output_tokens=2, usd_micros=3)],
        ),
        _decode_unvalidated,
    ),
    "GetMemoryRecord": Rpc(memory_service_pb2.GetMemoryRecordRequest(record_id=UUID), _decode_get_record),
    "ListMemoryRecords": Rpc(
        memory_service_pb2.ListMemoryRecordsRequest(memory_namespace="notes", page_size=10, page_token="token"),
        _decode_list,
    ),
    "ListProposals": Rpc(
        proposal_service_pb2.ListProposalsRequest(
            memory_namespace="notes",
            state=proposal_service_pb2.PROPOSAL_STATE_VALIDATED,
            page_size=10,
            page_token="token",
        ),
        _decode_list_proposals,
    ),
    "ListCommitReceipts": Rpc(
        capability_service_pb2.ListCommitReceiptsRequest(memory_namespace="notes", page_size=10, page_token="token"),
        _decode_list_receipts,
    ),
    "ListAuditEvents": Rpc(
        audit_service_pb2.ListAuditEventsRequest(
            filter=_FILTER,
            start_time=Timestamp(seconds=1_000),
            end_time=Timestamp(seconds=2_000),
            oldest_first=True,
            page_size=10,
            page_token="token",
        ),
        _decode_list_audit,
    ),
    "WatchAuditEvents": Rpc(
        audit_service_pb2.WatchAuditEventsRequest(filter=_FILTER, cursor="cursor"), _decode_watch_audit
    ),
    "WatchRevocations": Rpc(capability_service_pb2.WatchRevocationsRequest(cursor=7), _decode_watch_revocations),
}
