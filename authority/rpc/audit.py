"""AuditService: decode, use case, encode."""
# ruff: noqa: N802, ARG002 - the contract names the methods, gRPC gives the arguments

from authority.rpc.convert import audit as convert
from authority.rpc.convert import values
from authority.rpc.current_call import Context, current_caller, open_stream
from authority.rpc.refused import value_or_refuse
from authority.rpc.use_cases import UseCases
from authority.rpc.watches import serve_watch
from capability_authority.v1 import audit_service_pb2 as pb
from capability_authority.v1.audit_service_pb2_grpc import AuditServiceServicer


class AuditServicer(AuditServiceServicer):
    """Serves AuditService."""

    def __init__(self, use_cases: UseCases) -> None:
        self._use_cases = use_cases

    async def ListAuditEvents(self, request: pb.ListAuditEventsRequest, context: Context) -> pb.ListAuditEventsResponse:
        """Reads events page by page."""
        wanted = convert.list_filter(request)
        asked = values.page(request.page_size, request.page_token)
        page = await self._use_cases.list_audit_events(
            current_caller(), wanted, asked, oldest_first=request.oldest_first
        )
        return convert.list_response(value_or_refuse(page))

    async def WatchAuditEvents(self, request: pb.WatchAuditEventsRequest, context: Context) -> None:  # type: ignore[override] # the stubs know generators only
        """Tells of events as they come."""
        wanted, cursor = convert.filter_of(request.filter), convert.cursor(request)
        stream = await open_stream()
        watch = await self._use_cases.open_audit_watch(
            current_caller(), wanted, cursor, from_beginning=request.from_beginning
        )
        await serve_watch(value_or_refuse(watch), convert.tidings_message, context, stream)
