"""Messages of CapabilityService that ask for a capability or act on one."""

from collections.abc import Sequence
from hashlib import sha256

from authority.domain import limits
from authority.domain.capability import Presentation
from authority.domain.identity import Caller
from authority.domain.refusal import Refusal, malformed, over_limit
from authority.rpc.convert import values
from authority.rpc.convert.digests import evidence_digests, key_id
from authority.rpc.convert.enums import ERROR_REASONS
from authority.rpc.convert.grants import optional_grant
from authority.rpc.convert.marks import request_mark
from authority.rpc.convert.statements import optional_statement_message, statement, statement_message
from authority.rpc.convert.times import lifetime, timestamp_message
from authority.rpc.errors import to_status
from authority.rpc.refused import Refused, value_or_refusal
from authority.usecases.commit import CommitAnswer, CommitRequest
from authority.usecases.issue import IssueRequest
from authority.usecases.ports import IssuedCapability, RevokedCapability
from authority.usecases.revoke_capability import RevocationRequest
from authority.usecases.verify_capability import CapabilityVerdict
from capability_authority.v1 import capability_service_pb2 as pb


def issue_request(caller: Caller, request: pb.IssueCapabilityRequest, deadline: float) -> IssueRequest:
    """The request."""
    return IssueRequest(
        proposal_id=values.uuid(request.proposal_id, "proposal_id"),
        proposal_revision=values.revision(request.proposal_revision, "proposal_revision"),
        holder=values.principal(request, "holder"),
        holder_key_id=key_id(request.holder_key_id, "holder_key_id"),
        audience=values.identifier(request.audience, "audience"),
        commit_idempotency_key=values.key(request.commit_idempotency_key, "commit_idempotency_key"),
        validation_receipt=statement(request, "validation_receipt"),
        decision_receipt=statement(request, "decision_receipt"),
        lifetime_ms=lifetime(request, "lifetime"),
        deadline=deadline,
        grant=optional_grant(request),
        mark=request_mark(caller, request),
    )


def issue_batch_request(
    caller: Caller, request: pb.BatchIssueCapabilitiesRequest, deadline: float
) -> list[IssueRequest | Refusal]:
    """The items; one of a bad shape is the refusal that it alone is answered with."""
    _bound_batch(request)
    return [value_or_refusal(issue_request, caller, item, deadline) for item in request.requests]


def issue_batch_response(answers: Sequence[IssuedCapability | Refusal]) -> pb.BatchIssueCapabilitiesResponse:
    """One outcome each, in their order."""
    return pb.BatchIssueCapabilitiesResponse(
        outcomes=(
            pb.IssueOutcome(status=to_status(answer))
            if isinstance(answer, Refusal)
            else pb.IssueOutcome(result=issue_response(answer))
            for answer in answers
        )
    )


def issue_response(issued: IssuedCapability) -> pb.IssueCapabilityResponse:
    """The capability, new or found."""
    terms = issued.capability.terms
    return pb.IssueCapabilityResponse(
        capability=statement_message(issued.capability.statement),
        capability_id=terms.capability_id,
        expire_time=timestamp_message(terms.expire_time),
        replayed=issued.replayed,
    )


def presentation(sent: pb.Presentation) -> Presentation:
    """What is presented, with the digest of its exact bytes."""
    content = values.content(sent.content, "presentation.content")
    return Presentation(
        content=content,
        content_digest=sha256(content).digest(),
        media_type=values.media_type(sent.media_type, "presentation.media_type"),
        evidence_digests=evidence_digests(sent.evidence_digests, "presentation.evidence_digests"),
        commit_idempotency_key=values.key(sent.commit_idempotency_key, "presentation.commit_idempotency_key"),
    )


def optional_presentation(request: pb.VerifyCapabilityRequest) -> Presentation | None:
    """What is presented, or None when only the capability itself is to be judged."""
    return presentation(request.presentation) if request.HasField("presentation") else None


def verify_response(verdict: CapabilityVerdict) -> pb.VerifyCapabilityResponse:
    """The verdict as data: a refusal of the capability is no error of the call."""
    response = pb.VerifyCapabilityResponse(receipt_id=verdict.receipt_id)
    if verdict.refusal is None:
        response.verdict = pb.VerifyCapabilityResponse.VERDICT_GRANTED
        return response
    response.verdict = pb.VerifyCapabilityResponse.VERDICT_REFUSED
    response.reason = ERROR_REASONS.number(verdict.refusal.reason)
    response.facts.update(verdict.refusal.facts)
    return response


def commit_request(request: pb.CommitValidatedRequest, deadline: float, traceparent: str = "") -> CommitRequest:
    """The request, but for the envelope that may prove its caller, of which only the size is judged."""
    if len(request.upstream_envelope_json.encode()) > limits.ACTION_ENVELOPE_BYTES:
        raise Refused(over_limit("upstream_envelope_json", f"{limits.ACTION_ENVELOPE_BYTES} bytes"))
    capability = statement(request, "capability")
    values.require(request, "presentation")
    return CommitRequest(capability, presentation(request.presentation), deadline, traceparent)


def refuse_envelope(request: pb.CommitValidatedRequest, problem: str) -> None:
    """MALFORMED when there is an envelope where none can be."""
    if request.upstream_envelope_json:
        raise Refused(malformed("upstream_envelope_json", problem))


def commit_batch_request(
    request: pb.BatchCommitValidatedRequest, deadline: float, traceparent: str
) -> list[CommitRequest | Refusal]:
    """The items; one of a bad shape is the refusal that it alone is answered with."""
    _bound_batch(request)
    return [commit_item(item, deadline, traceparent) for item in request.requests]


def _bound_batch(request: pb.BatchCommitValidatedRequest | pb.BatchIssueCapabilitiesRequest) -> None:
    values.bound(request.requests, limits.BATCH_ITEMS, "requests")
    if not request.requests:
        raise Refused(malformed("requests", "at least one"))
    if request.ByteSize() > limits.BATCH_BYTES:
        raise Refused(over_limit("requests", f"{limits.BATCH_BYTES} bytes together"))


def commit_item(item: pb.CommitValidatedRequest, deadline: float, traceparent: str) -> CommitRequest | Refusal:
    """One of many requests, or what it alone is refused for."""
    return value_or_refusal(_item_request, item, deadline, traceparent)


def _item_request(item: pb.CommitValidatedRequest, deadline: float, traceparent: str) -> CommitRequest:
    refuse_envelope(item, "in CommitValidated alone: a batch or a stream is proven as a whole")
    return commit_request(item, deadline, traceparent)


def commit_batch_response(answers: Sequence[CommitAnswer | Refusal]) -> pb.BatchCommitValidatedResponse:
    """One outcome each, in their order."""
    return pb.BatchCommitValidatedResponse(outcomes=map(outcome, answers))


def outcome(answer: CommitAnswer | Refusal) -> pb.CommitOutcome:
    """What became of one of many."""
    if isinstance(answer, Refusal):
        return pb.CommitOutcome(status=to_status(answer))
    return pb.CommitOutcome(result=commit_response(answer))


def commit_response(answer: CommitAnswer) -> pb.CommitValidatedResponse:
    """The receipt, byte for byte that of the first success."""
    return pb.CommitValidatedResponse(
        receipt=statement_message(answer.receipt.statement),
        receipt_id=answer.receipt.receipt_id,
        record_id=answer.receipt.record_id,
        replayed=answer.replayed,
        attestation=optional_statement_message(answer.attestation),
        revision_token=answer.revision_token,
    )


def revocation_request(caller: Caller, request: pb.RevokeCapabilityRequest) -> RevocationRequest:
    """Which capability to withdraw."""
    capability_id = values.uuid(request.capability_id, "capability_id")
    return RevocationRequest(request_mark(caller, request), capability_id)


def revocation_response(revoked: RevokedCapability) -> pb.RevokeCapabilityResponse:
    """When it was revoked first."""
    return pb.RevokeCapabilityResponse(revoke_time=timestamp_message(revoked.revoke_time), replayed=revoked.replayed)
