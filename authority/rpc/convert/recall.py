"""Messages of MemoryService that recall."""

from collections.abc import Sequence
from typing import Final

from authority.domain import limits
from authority.domain.aggregate import AggregateCount
from authority.domain.identity import Caller
from authority.domain.recall import RecallHit, RecallQuery
from authority.domain.refusal import malformed
from authority.rpc.convert import values
from authority.rpc.convert.enums import MEMORY_TYPES, PROVENANCES
from authority.rpc.convert.grants import optional_grant
from authority.rpc.convert.memory import record_message
from authority.rpc.convert.times import optional_instant, require_order, timestamp_message
from authority.rpc.current_call import current_trace_id
from authority.rpc.refused import Refused
from authority.usecases.grants.read_under import Presented
from authority.usecases.paging import Page
from authority.usecases.ports import RequestMark
from authority.usecases.recall_aggregate import AggregateRequest
from authority.usecases.recall_records import RecallRequest
from capability_authority.v1 import memory_service_pb2 as pb

_OF_AGGREGATES: Final = {"aggregate", "memory_namespace", "grant", "grant_ancestors"}


def recall_request(caller: Caller, request: pb.RecallRecordsRequest) -> RecallRequest:
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
    token = values.token(request.at_least_as_fresh_as, "at_least_as_fresh_as")
    return RecallRequest(query, page, token, _presented(caller, request))


def aggregate_request(caller: Caller, request: pb.RecallRecordsRequest) -> AggregateRequest:
    """The request for figures, which says nothing but which; MALFORMED for anything that would make them others."""
    for field, _ in request.ListFields():
        if field.name not in _OF_AGGREGATES:
            raise Refused(malformed(field.name, "an aggregate takes no query, no filter, no page and no freshness"))
    return AggregateRequest(
        values.identifier(request.aggregate, "aggregate"),
        values.identifier(request.memory_namespace, "memory_namespace"),
        _presented(caller, request),
    )


def aggregate_response(counts: Sequence[AggregateCount]) -> pb.RecallRecordsResponse:
    """The figures."""
    return pb.RecallRecordsResponse(
        aggregate_counts=[
            pb.RecallRecordsResponse.AggregateCount(
                memory_type=MEMORY_TYPES.number(count.memory_type),
                month=timestamp_message(count.month),
                records=count.records,
            )
            for count in counts
        ]
    )


def _presented(caller: Caller, request: pb.RecallRecordsRequest) -> Presented | None:
    """The grant, and what an audit event says of a block that is met for the first time: a read has no request id."""
    grant = optional_grant(request)
    if grant is None:
        return None
    return Presented(grant, RequestMark(caller.tenant, caller.ref, "", b"", current_trace_id()))


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
