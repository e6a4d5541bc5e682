"""The one table from reasons to statuses (architecture, Errors)."""

from dataclasses import dataclass

import grpc
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal

DOMAIN = "capability-authority"
"""`google.rpc.ErrorInfo.domain` of every refusal that is this service's own."""

_NANOS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Row:
    """The status code of a reason, and in how many milliseconds the same call may be tried again, if at all."""

    code: grpc.StatusCode
    retry_after_ms: int | None = None


TABLE: dict[Reason, Row] = {
    Reason.CALLER_UNAUTHENTICATED: Row(grpc.StatusCode.UNAUTHENTICATED),
    Reason.MALFORMED: Row(grpc.StatusCode.INVALID_ARGUMENT),
    Reason.LIMIT_EXCEEDED: Row(grpc.StatusCode.INVALID_ARGUMENT),
    # A new proof may well pass, but that is another call: no RetryInfo.
    Reason.PROOF_INVALID: Row(grpc.StatusCode.PERMISSION_DENIED),
    Reason.PROOF_REPLAYED: Row(grpc.StatusCode.PERMISSION_DENIED),
    Reason.HOLDER_MISMATCH: Row(grpc.StatusCode.PERMISSION_DENIED),
    Reason.NOT_ALLOWED: Row(grpc.StatusCode.PERMISSION_DENIED),
    Reason.IDEMPOTENCY_CONFLICT: Row(grpc.StatusCode.ALREADY_EXISTS),
    Reason.IN_PROGRESS: Row(grpc.StatusCode.ABORTED, retry_after_ms=200),
    Reason.SIGNATURE_INVALID: Row(grpc.StatusCode.PERMISSION_DENIED),
    Reason.ISSUER_UNKNOWN: Row(grpc.StatusCode.PERMISSION_DENIED),
    Reason.KEY_REVOKED: Row(grpc.StatusCode.PERMISSION_DENIED),
    Reason.BINDING_MISMATCH: Row(grpc.StatusCode.PERMISSION_DENIED),
    Reason.GRANT_EXCEEDED: Row(grpc.StatusCode.PERMISSION_DENIED),
    Reason.POLICY_DENIED: Row(grpc.StatusCode.PERMISSION_DENIED),
    Reason.NOT_YET_VALID: Row(grpc.StatusCode.FAILED_PRECONDITION),
    Reason.EXPIRED: Row(grpc.StatusCode.FAILED_PRECONDITION),
    Reason.REVOKED: Row(grpc.StatusCode.FAILED_PRECONDITION),
    Reason.NOT_VALIDATED: Row(grpc.StatusCode.FAILED_PRECONDITION),
    Reason.APPROVAL_REQUIRED: Row(grpc.StatusCode.FAILED_PRECONDITION),
    Reason.ALREADY_COMMITTED: Row(grpc.StatusCode.FAILED_PRECONDITION),
    Reason.BUDGET_EXHAUSTED: Row(grpc.StatusCode.RESOURCE_EXHAUSTED, retry_after_ms=1_000),
    Reason.OVERLOADED: Row(grpc.StatusCode.RESOURCE_EXHAUSTED, retry_after_ms=1_000),
    Reason.NOT_FOUND: Row(grpc.StatusCode.NOT_FOUND),
    Reason.CONTENTION: Row(grpc.StatusCode.ABORTED, retry_after_ms=50),
    Reason.DEPENDENCY_UNAVAILABLE: Row(grpc.StatusCode.UNAVAILABLE, retry_after_ms=500),
    Reason.NOT_IMPLEMENTED: Row(grpc.StatusCode.UNIMPLEMENTED),
    Reason.INTERNAL: Row(grpc.StatusCode.INTERNAL),
}
"""Every reason has its row; a delay stands where the same call, with the same key, may be tried again."""

_OF_SHAPE = frozenset({Reason.MALFORMED, Reason.LIMIT_EXCEEDED})


def to_status(refusal: Refusal) -> Status:
    """The status that the caller gets: a fixed sentence, and in its details what may be known of the cause."""
    row = TABLE[refusal.reason]
    code, _ = row.code.value
    status = Status(code=code, message=refusal.reason.value)
    status.details.add().Pack(ErrorInfo(reason=refusal.reason.name, domain=DOMAIN, metadata=dict(refusal.facts)))
    if refusal.reason in _OF_SHAPE and "field" in refusal.facts:
        violation = BadRequest.FieldViolation(
            field=refusal.facts["field"], description=refusal.facts.get("problem", refusal.reason.value)
        )
        status.details.add().Pack(BadRequest(field_violations=[violation]))
    if row.retry_after_ms is not None:
        seconds, rest = divmod(row.retry_after_ms, 1_000)
        delay = Duration(seconds=seconds, nanos=rest * _NANOS_PER_MS)
        status.details.add().Pack(RetryInfo(retry_delay=delay))
    return status
