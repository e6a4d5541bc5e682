"""Messages of EvidenceService."""

import hashlib

from authority.domain import limits, shape
from authority.domain.evidence import Evidence
from authority.domain.identity import Caller
from authority.domain.proposal import Visibility
from authority.domain.refusal import malformed, over_limit
from authority.rpc.convert import values
from authority.rpc.convert.digests import digest, digest_text
from authority.rpc.convert.enums import EVIDENCE_STATES, VISIBILITIES
from authority.rpc.convert.grants import optional_grant
from authority.rpc.convert.marks import request_mark
from authority.rpc.convert.statements import optional_statement_message, statement
from authority.rpc.convert.times import optional_timestamp, timestamp_message
from authority.rpc.current_call import current_trace_id
from authority.rpc.refused import Refused
from authority.usecases.ports import RequestMark
from authority.usecases.put_evidence import EvidenceRequest
from authority.usecases.read_evidence import EvidenceQuery
from capability_authority.v1 import evidence_service_pb2 as pb


def evidence_request(caller: Caller, request: pb.PutEvidenceRequest) -> EvidenceRequest:
    """What is put."""
    is_referred = request.WhichOneof("kept") == "reference"
    content = None if is_referred else values.content(request.content, "content")
    reference = _uri(request.reference.uri) if is_referred else None
    named = digest(request.reference.digest, "reference.digest") if is_referred else b""
    return EvidenceRequest(
        content=content,
        reference=reference,
        digest=named or hashlib.sha256(request.content).digest(),
        media_type=_media_type(request.media_type),
        visibility=VISIBILITIES.optional_member(request.visibility, "visibility") or Visibility.PRIVATE,
        visibility_scope=values.optional_identifier(request.visibility_scope, "visibility_scope"),
        claim=statement(request, "claim") if request.HasField("claim") else None,
        mark=request_mark(caller, request),
    )


def evidence_query(caller: Caller, request: pb.ReadEvidenceRequest) -> EvidenceQuery:
    """Which evidence to read, and by which grant if by one."""
    wanted = digest(request.digest, "digest")
    mark = RequestMark(caller.tenant, caller.ref, "", wanted, current_trace_id())
    return EvidenceQuery(wanted, mark, optional_grant(request))


def evidence_message(evidence: Evidence, *, with_content: bool) -> pb.Evidence:
    """The evidence as it is sent."""
    message = pb.Evidence(
        digest=digest_text(evidence.digest),
        media_type=evidence.media_type,
        put_by=values.principal_message(evidence.put_by),
        visibility=VISIBILITIES.number(evidence.visibility),
        visibility_scope=evidence.visibility_scope,
        state=EVIDENCE_STATES.number(evidence.state),
        signed_by=values.principal_message(evidence.signed_by) if evidence.signed_by else None,
        claim=optional_statement_message(evidence.statement),
        put_time=timestamp_message(evidence.put_time),
        decide_time=optional_timestamp(evidence.decide_time),
    )
    if evidence.reference is not None:
        message.reference = evidence.reference
    elif with_content and evidence.content is not None:
        message.content = evidence.content
    return message


def _uri(text: str) -> str:
    if len(text) > limits.URI_BYTES:
        raise Refused(over_limit("reference.uri", f"{limits.URI_BYTES} bytes"))
    if not shape.is_uri(text):
        raise Refused(malformed("reference.uri", "must be an absolute URI in ASCII" if text else "required"))
    if shape.holds_password(text):
        raise Refused(malformed("reference.uri", "must not hold a password"))
    return text


def _media_type(text: str) -> str:
    if not shape.is_any_media_type(text):
        problem = "must be a media type in lower case, without parameters" if text else "required"
        raise Refused(malformed("media_type", problem))
    return text
