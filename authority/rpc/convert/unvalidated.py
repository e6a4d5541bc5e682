"""Messages of MemoryService that write without validation."""

from authority.domain.identity import Caller
from authority.domain.references import TenantRef
from authority.domain.unvalidated import Observation
from authority.rpc.convert import values
from authority.rpc.convert.digests import digest_text
from authority.rpc.convert.enums import ERROR_REASONS, MEMORY_TYPES
from authority.rpc.convert.marks import request_mark
from authority.rpc.convert.memory import record_message
from authority.rpc.convert.said_memory import said_memory
from authority.usecases.ports import WrittenUnvalidated
from authority.usecases.write_unvalidated import UnvalidatedRequest
from capability_authority.v1 import errors_pb2
from capability_authority.v1 import memory_service_pb2 as pb


def unvalidated_request(
    caller: Caller, request: pb.WriteUnvalidatedRecordRequest, traceparent: str
) -> UnvalidatedRequest:
    """What is to be written, and for whom the caller believes to write."""
    return UnvalidatedRequest(
        tenant=_tenant(request),
        memory_namespace=values.identifier(request.memory_namespace, "memory_namespace"),
        memory_type=MEMORY_TYPES.member(request.memory_type, "memory_type"),
        said=said_memory(request),
        mark=request_mark(caller, request),
        traceparent=traceparent,
    )


def unvalidated_response(answer: WrittenUnvalidated) -> pb.WriteUnvalidatedRecordResponse:
    """The record, marked, and what enforcement would have said of it."""
    observation = answer.written.observation
    return pb.WriteUnvalidatedRecordResponse(
        record=record_message(answer.written.record),
        observation=_observation(observation) if observation else None,
        replayed=answer.replayed,
    )


def _observation(observation: Observation) -> pb.WriteUnvalidatedRecordResponse.Observation:
    reason = observation.would_refuse
    return pb.WriteUnvalidatedRecordResponse.Observation(
        would_be_allowed=reason is None,
        would_refuse=ERROR_REASONS.number(reason) if reason else errors_pb2.ERROR_REASON_UNSPECIFIED,
        validators=observation.validators,
        policies=observation.policies,
        policy_version=digest_text(observation.policy_version),
    )


def _tenant(request: pb.WriteUnvalidatedRecordRequest) -> TenantRef | None:
    if not request.HasField("tenant"):
        return None
    namespace = values.identifier(request.tenant.namespace, "tenant.namespace")
    return TenantRef(namespace, values.identifier(request.tenant.id, "tenant.id"))
