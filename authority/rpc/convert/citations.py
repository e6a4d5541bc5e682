"""Messages of MemoryService that cite."""

from authority.domain import limits
from authority.domain.citation import Citation, Cited, CitedContent, CitedRecord
from authority.domain.identity import Caller
from authority.domain.refusal import malformed
from authority.rpc.convert import values
from authority.rpc.convert.digests import digest, digest_text
from authority.rpc.convert.marks import request_mark
from authority.rpc.convert.times import timestamp_message
from authority.rpc.refused import Refused
from authority.usecases.cite import CitationRequest
from authority.usecases.paging import Page
from capability_authority.v1 import memory_service_pb2 as pb


def citation_request(caller: Caller, request: pb.RegisterCitationRequest) -> CitationRequest:
    """Which record is cited, and by what."""
    return CitationRequest(
        record_id=values.uuid(request.record_id, "record_id"),
        citing_kind=values.identifier(request.citing_kind, "citing_kind", limits.KEY_BYTES),
        citing_ref=values.printable(request.citing_ref, "citing_ref", limits.REF_BYTES),
        mark=request_mark(caller, request),
    )


def citation_response(citation: Citation) -> pb.RegisterCitationResponse:
    """The citation as it is kept."""
    return pb.RegisterCitationResponse(citation=citation_message(citation))


def cited(request: pb.ListCitationsRequest) -> Cited:
    """What was cited: exactly one way to name it must be used, a content with its memory namespace."""
    match request.WhichOneof("cited"):
        case "record_id":
            return CitedRecord(values.uuid(request.record_id, "record_id"))
        case "content":
            namespace = values.identifier(request.content.memory_namespace, "content.memory_namespace")
            return CitedContent(namespace, digest(request.content.content_digest, "content.content_digest"))
        case None:
            raise Refused(malformed("cited", "required"))


def citations_response(page: Page[Citation]) -> pb.ListCitationsResponse:
    """A page of citations."""
    return pb.ListCitationsResponse(citations=map(citation_message, page.items), next_page_token=page.next_token)


def citation_message(citation: Citation) -> pb.Citation:
    """Who cited which record, by what."""
    return pb.Citation(
        citation_id=citation.citation_id,
        record_id=citation.record_id,
        memory_namespace=citation.memory_namespace,
        content_digest=digest_text(citation.content_digest),
        receipt_digest=digest_text(citation.receipt_digest) if citation.receipt_digest else "",
        cited_by=values.principal_message(citation.cited_by),
        citing_kind=citation.citing_kind,
        citing_ref=citation.citing_ref,
        create_time=timestamp_message(citation.create_time),
    )
