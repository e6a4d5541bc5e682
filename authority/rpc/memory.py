"""MemoryService: decode, use case, encode."""
# ruff: noqa: N802, ARG002 - the contract names the methods, gRPC gives the arguments

from authority.rpc.convert import citations, exports, recall, unvalidated, values
from authority.rpc.convert import memory as convert
from authority.rpc.convert.proposals import proposal_message
from authority.rpc.current_call import Context, current_caller, traceparent_of
from authority.rpc.refused import value_or_refuse
from authority.rpc.use_cases import UseCases
from capability_authority.v1 import memory_service_pb2 as pb
from capability_authority.v1.memory_service_pb2_grpc import MemoryServiceServicer


class MemoryServicer(MemoryServiceServicer):
    """Serves MemoryService."""

    def __init__(self, use_cases: UseCases) -> None:
        self._use_cases = use_cases

    async def GetMemoryRecord(self, request: pb.GetMemoryRecordRequest, context: Context) -> pb.GetMemoryRecordResponse:
        """Reads one record."""
        record_id = values.uuid(request.record_id, "record_id")
        record = value_or_refuse(
            await self._use_cases.get_record(current_caller(), record_id, with_unvalidated=request.include_unvalidated)
        )
        return pb.GetMemoryRecordResponse(record=convert.record_message(record))

    async def ListMemoryRecords(
        self, request: pb.ListMemoryRecordsRequest, context: Context
    ) -> pb.ListMemoryRecordsResponse:
        """Reads records page by page."""
        memory_namespace = values.identifier(request.memory_namespace, "memory_namespace")
        asked = values.page(request.page_size, request.page_token)
        page = await self._use_cases.list_records(
            current_caller(), memory_namespace, asked, with_unvalidated=request.include_unvalidated
        )
        return convert.list_response(value_or_refuse(page))

    async def RevokeRecord(self, request: pb.RevokeRecordRequest, context: Context) -> pb.RevokeRecordResponse:
        """Withdraws a record for ever."""
        caller = current_caller()
        asked = convert.revocation_request(caller, request, traceparent_of(context))
        return convert.revocation_response(value_or_refuse(await self._use_cases.revoke_record(caller, asked)))

    async def RecallRecords(self, request: pb.RecallRecordsRequest, context: Context) -> pb.RecallRecordsResponse:
        """Finds records by keywords, or tells figures across tenants."""
        caller = current_caller()
        if request.aggregate:
            figures = recall.aggregate_request(caller, request)
            return recall.aggregate_response(value_or_refuse(await self._use_cases.recall_aggregate(caller, figures)))
        asked = recall.recall_request(caller, request)
        return recall.recall_response(value_or_refuse(await self._use_cases.recall(caller, asked)))

    async def RegisterCitation(
        self, request: pb.RegisterCitationRequest, context: Context
    ) -> pb.RegisterCitationResponse:
        """Keeps that something rests on a record."""
        caller = current_caller()
        asked = citations.citation_request(caller, request)
        return citations.citation_response(value_or_refuse(await self._use_cases.register_citation(caller, asked)))

    async def ListCitations(self, request: pb.ListCitationsRequest, context: Context) -> pb.ListCitationsResponse:
        """Reads what cites a record or a content, page by page."""
        cited, asked = citations.cited(request), values.page(request.page_size, request.page_token)
        page = await self._use_cases.list_citations(current_caller(), cited, asked)
        return citations.citations_response(value_or_refuse(page))

    async def ExportRecord(self, request: pb.ExportRecordRequest, context: Context) -> pb.ExportRecordResponse:
        """Hands a record over with what proves it."""
        record_id, form = values.uuid(request.record_id, "record_id"), exports.form_of(request.form, "form")
        found = await self._use_cases.export_record(current_caller(), record_id, form)
        return exports.export_response(value_or_refuse(found))

    async def CorrectRecord(self, request: pb.CorrectRecordRequest, context: Context) -> pb.CorrectRecordResponse:
        """Opens a proposal whose commit supersedes a record."""
        caller = current_caller()
        asked = convert.correction(caller, request)
        kept = value_or_refuse(await self._use_cases.correct_record(caller, asked))
        return pb.CorrectRecordResponse(proposal=proposal_message(kept))

    async def WriteUnvalidatedRecord(
        self, request: pb.WriteUnvalidatedRecordRequest, context: Context
    ) -> pb.WriteUnvalidatedRecordResponse:
        """Writes a record without validation, where a memory namespace takes it."""
        caller = current_caller()
        asked = unvalidated.unvalidated_request(caller, request, traceparent_of(context))
        written = await self._use_cases.write_unvalidated(caller, asked)
        return unvalidated.unvalidated_response(value_or_refuse(written))
