"""The fields that are the same wherever a caller says what is to be remembered."""

from authority.rpc.convert import values
from authority.rpc.convert.costs import costs
from authority.rpc.convert.enums import VISIBILITIES
from authority.rpc.convert.times import optional_instant, require_order
from authority.usecases.said_memory import SaidMemory
from capability_authority.v1 import memory_service_pb2, proposal_service_pb2

_Saying = (
    proposal_service_pb2.CreateProposalRequest
    | memory_service_pb2.CorrectRecordRequest
    | memory_service_pb2.WriteUnvalidatedRecordRequest
)


def said_memory(request: _Saying) -> SaidMemory:
    """What is to be remembered. Raises Refused with MALFORMED or LIMIT_EXCEEDED for the first field that is wrong."""
    valid_from_time = optional_instant(request, "valid_from_time")
    valid_until_time = optional_instant(request, "valid_until_time")
    require_order(valid_from_time, valid_until_time, "valid_until_time")
    return SaidMemory(
        content=values.content(request.content, "content"),
        media_type=values.media_type(request.media_type, "media_type"),
        source_refs=values.references(request.source_refs, "source_refs"),
        subject_refs=values.references(request.subject_refs, "subject_refs"),
        visibility=VISIBILITIES.optional_member(request.visibility, "visibility"),
        visibility_scope=values.optional_identifier(request.visibility_scope, "visibility_scope"),
        valid_from_time=valid_from_time,
        valid_until_time=valid_until_time,
        record_expire_time=optional_instant(request, "record_expire_time"),
        correlation_id=values.optional_identifier(request.correlation_id, "correlation_id"),
        costs=costs(request.costs, "costs"),
    )
