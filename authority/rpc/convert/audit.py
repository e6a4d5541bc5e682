"""Messages of AuditService."""

from authority.domain import limits
from authority.domain.audit import AuditFilter, ToldEvent
from authority.domain.refusal import malformed, over_limit
from authority.rpc.convert import values
from authority.rpc.convert.costs import cost_messages
from authority.rpc.convert.times import optional_instant, optional_timestamp, require_order, timestamp_message
from authority.rpc.convert.values import principal_message
from authority.rpc.refused import Refused
from authority.usecases.paging import Page
from authority.usecases.read_audit import AuditTidings
from capability_authority.v1 import audit_service_pb2 as pb

_SUBJECT_BYTES = 2 * limits.ID_BYTES + 1
"""A principal's: `namespace|id`."""


def list_filter(request: pb.ListAuditEventsRequest) -> AuditFilter:
    """Which events are meant: by the filter, and in the range of times."""
    start, end = optional_instant(request, "start_time"), optional_instant(request, "end_time")
    require_order(start, end, "end_time")
    asked = filter_of(request.filter)
    return AuditFilter(
        kind=asked.kind,
        actor=asked.actor,
        subject=asked.subject,
        correlation_id=asked.correlation_id,
        start=start,
        end=end,
    )


def filter_of(asked: pb.AuditFilter) -> AuditFilter:
    """Which events are meant; everything that is empty means all."""
    return AuditFilter(
        kind=values.optional_identifier(asked.kind, "filter.kind"),
        actor=values.principal(asked, "actor", "filter.") if asked.HasField("actor") else None,
        # Of what principals are named by "namespace|id": a line of text, not an id.
        subject=values.printable(asked.subject, "filter.subject", _SUBJECT_BYTES) if asked.subject else "",
        correlation_id=values.optional_identifier(asked.correlation_id, "filter.correlation_id"),
    )


def cursor(request: pb.WatchAuditEventsRequest) -> str:
    """Where the watch goes on, or empty."""
    if len(request.cursor) > limits.CURSOR_BYTES:
        raise Refused(over_limit("cursor", f"{limits.CURSOR_BYTES} bytes"))
    if request.cursor and request.from_beginning:
        raise Refused(malformed("from_beginning", "must not be set beside a cursor"))
    return request.cursor


def list_response(page: Page[ToldEvent]) -> pb.ListAuditEventsResponse:
    """A page of events."""
    return pb.ListAuditEventsResponse(events=map(_event, page.items), next_page_token=page.next_token)


def tidings_message(tidings: AuditTidings) -> pb.WatchAuditEventsResponse:
    """One message of a watch."""
    return pb.WatchAuditEventsResponse(
        events=map(_event, tidings.events), cursor=tidings.cursor, as_of_time=optional_timestamp(tidings.as_of)
    )


def _event(told: ToldEvent) -> pb.AuditEvent:
    event = told.event
    return pb.AuditEvent(
        event_id=told.event_id,
        kind=event.kind,
        actor=principal_message(event.actor),
        subject=event.subject,
        previous_state=event.previous_state,
        next_state=event.next_state,
        costs=cost_messages(event.costs),
        correlation_id=event.correlation_id,
        trace_id=event.trace_id,
        create_time=timestamp_message(event.time),
    )
