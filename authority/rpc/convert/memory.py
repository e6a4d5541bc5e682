"""Messages of MemoryService."""

from authority.domain.identity import Caller
from authority.domain.record import MemoryRecord
from authority.rpc.convert import values
from authority.rpc.convert.costs import cost_messages
from authority.rpc.convert.digests import digest_text, evidence_digests
from authority.rpc.convert.enums import MEMORY_TYPES, PROVENANCES, VISIBILITIES
from authority.rpc.convert.marks import request_mark
from authority.rpc.convert.said_memory import said_memory
from authority.rpc.convert.times import optional_timestamp, timestamp_message
from authority.rpc.convert.values import principal_message
from authority.usecases.correct_record import Correction
from authority.usecases.paging import Page
from authority.usecases.revoke_record import RecordRevocation, RevocationAnswer
from capability_authority.v1 import memory_service_pb2 as pb


def record_message(record: MemoryRecord) -> pb.MemoryRecord:
    """The record with everything that says where it came from."""
    return pb.MemoryRecord(
        record_id=record.record_id,
        memory_namespace=record.memory_namespace,
        memory_type=MEMORY_TYPES.number(record.memory_type),
        provenance=PROVENANCES.number(record.provenance),
        content=record.content,
        content_digest=digest_text(record.content_digest),
        media_type=record.media_type,
        proposer=principal_message(record.proposer),
        proposal_id=record.proposal_id,
        proposal_revision=record.proposal_revision,
        receipt_id=record.receipt_id,
        source_refs=record.source_refs,
        subject_refs=record.subject_refs,
        evidence_digests=[digest_text(raw) for raw in record.evidence_digests],
        visibility=VISIBILITIES.number(record.visibility),
        visibility_scope=record.visibility_scope,
        valid_from_time=optional_timestamp(record.valid_from_time),
        valid_until_time=optional_timestamp(record.valid_until_time),
        expire_time=optional_timestamp(record.expire_time),
        create_time=timestamp_message(record.create_time),
        costs=cost_messages(record.costs),
        correlation_id=record.correlation_id,
        supersedes_record_id=record.supersedes_record_id,
        validated=record.validated,
    )


def list_response(page: Page[MemoryRecord]) -> pb.ListMemoryRecordsResponse:
    """A page of records."""
    return pb.ListMemoryRecordsResponse(
        records=[record_message(record) for record in page.items], next_page_token=page.next_token
    )


def revocation_request(caller: Caller, request: pb.RevokeRecordRequest, traceparent: str) -> RecordRevocation:
    """Which record to withdraw, and why."""
    return RecordRevocation(
        record_id=values.uuid(request.record_id, "record_id"),
        note=values.note(request.note, "note"),
        traceparent=traceparent,
        mark=request_mark(caller, request),
    )


def revocation_response(answer: RevocationAnswer) -> pb.RevokeRecordResponse:
    """When it was revoked first, where that stands among all decisions and revocations, and a token for recalls."""
    return pb.RevokeRecordResponse(
        revoke_time=timestamp_message(answer.revoked.revoke_time),
        sequence=answer.revoked.sequence,
        replayed=answer.revoked.replayed,
        revision_token=answer.revision_token,
    )


def correction(caller: Caller, request: pb.CorrectRecordRequest) -> Correction:
    """What is proposed in place of a record."""
    return Correction(
        record_id=values.uuid(request.record_id, "record_id"),
        memory_type=MEMORY_TYPES.optional_member(request.memory_type, "memory_type"),
        said=said_memory(request),
        evidence_digests=evidence_digests(request.evidence_digests, "evidence_digests"),
        validator_profile=values.optional_identifier(request.validator_profile, "validator_profile"),
        mark=request_mark(caller, request),
    )
