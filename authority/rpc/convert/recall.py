"""Messages of MemoryService that recall."""

from authority.domain import limits
from authority.domain.recall import RecallHit, RecallQuery
from authority.rpc.convert import values
from authority.rpc.convert.enums import MEMORY_TYPES, PROVENANCES
from authority.rpc.convert.memory import record_message
from authority.rpc.convert.times import optional_instant, require_order, timestamp_message
from authority.usecases.paging import Page
from authority.usecases.recall_records import RecallRequest
from capability_authority.v1 import memory_service_pb2 as pb


def recall_request(request: pb.RecallRecordsRequest) -> RecallRequest:
    """The request. An empty memory namespace or query is MALFORMED: absent never means all (case G01)."""
    query = RecallQuery(
        memory_namespace=values.identifier(request.memory_namespace, "memory_namespace"),
        text=values.query(request.query, "query"),
        memory_types=MEMORY_TYPES.members(request.memory_types, "memory_types"),
        provenances=PROVENANCES.members(request.provenances, "provenances"),
        source_refs=values.references(request.source_refs, "source_refs"),
        subject_refs=values.references(request.subject_refs, "subject_refs"),
        created_after_time=optional_instant(request, "created_after_time"),
        created_before_time=optional_instant(request, "created_before_time"),
        with_unvalidated=request.include_unvalidated,
    )
    require_order(query.created_after_time, query.created_before_time, "created_before_time")
    page = values.page(
        request.page_size, request.page_token, most=limits.RECALL_SIZE, default=limits.RECALL_SIZE_DEFAULT
    )
    return RecallRequest(query, page, values.token(request.at_least_as_fresh_as, "at_least_as_fresh_as"))


def recall_response(page: Page[RecallHit]) -> pb.RecallRecordsResponse:
    """A page of hits: all of them live."""
    return pb.RecallRecordsResponse(hits=[_hit(hit) for hit in page.items], next_page_token=page.next_token)


def _hit(hit: RecallHit) -> pb.RecallRecordsResponse.Hit:
    return pb.RecallRecordsResponse.Hit(
        record=record_message(hit.record),
        score_millionths=hit.score,
        observe_time=timestamp_message(hit.observe_time),
        state=pb.RECORD_STATE_LIVE,
    )
