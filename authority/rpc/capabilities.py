"""CapabilityService: decode, use case, encode."""
# ruff: noqa: N802, ARG002 - the contract names the methods, gRPC gives the arguments

from dataclasses import replace

from authority.rpc.commit_streams import CommitStreams
from authority.rpc.convert import capabilities as convert
from authority.rpc.convert import keys, receipts, revocations, values
from authority.rpc.convert.statements import statement
from authority.rpc.current_call import (
    Context,
    current_caller,
    current_deadline,
    current_shown,
    known_caller,
    open_stream,
    set_caller,
    traceparent_of,
)
from authority.rpc.refused import value_or_refuse
from authority.rpc.use_cases import UseCases
from authority.rpc.watches import serve_watch
from authority.usecases.commit import CommitRequest
from capability_authority.v1 import capability_service_pb2 as pb
from capability_authority.v1.capability_service_pb2_grpc import CapabilityServiceServicer


class CapabilityServicer(CapabilityServiceServicer):
    """Serves CapabilityService."""

    def __init__(self, use_cases: UseCases, streams: CommitStreams) -> None:
        self._use_cases = use_cases
        self._streams = streams

    async def IssueCapability(self, request: pb.IssueCapabilityRequest, context: Context) -> pb.IssueCapabilityResponse:
        """Issues a capability, or answers with the live one."""
        caller = current_caller()
        asked = convert.issue_request(caller, request, current_deadline())
        return convert.issue_response(value_or_refuse(await self._use_cases.issue(caller, asked)))

    async def BatchIssueCapabilities(
        self, request: pb.BatchIssueCapabilitiesRequest, context: Context
    ) -> pb.BatchIssueCapabilitiesResponse:
        """Issues many, each with an outcome of its own."""
        caller, deadline = current_caller(), current_deadline()
        asked = convert.issue_batch_request(caller, request, deadline)
        answers = await self._use_cases.issue_batch(caller, asked, deadline)
        return convert.issue_batch_response(value_or_refuse(answers))

    async def VerifyCapability(
        self, request: pb.VerifyCapabilityRequest, context: Context
    ) -> pb.VerifyCapabilityResponse:
        """Judges a capability; the verdict is data."""
        capability = statement(request, "capability")
        presentation = convert.optional_presentation(request)
        verdict = await self._use_cases.verify_capability(current_caller(), capability, presentation)
        return convert.verify_response(value_or_refuse(verdict))

    async def CommitValidated(self, request: pb.CommitValidatedRequest, context: Context) -> pb.CommitValidatedResponse:
        """Commits once; a retry is answered with the first result."""
        if known_caller():
            convert.refuse_envelope(request, "beside another proof: it replaces the Invocation")
        asked = convert.commit_request(request, current_deadline(), traceparent_of(context))
        if request.upstream_envelope_json:
            asked = await self._proven(request, asked)
        return convert.commit_response(value_or_refuse(await self._use_cases.commit(current_caller(), asked)))

    async def _proven(self, request: pb.CommitValidatedRequest, asked: CommitRequest) -> CommitRequest:
        """The request with the envelope that proves its caller, who is known from then on."""
        envelope = request.upstream_envelope_json.encode()
        proven = value_or_refuse(await self._use_cases.prove_by_envelope(current_shown(), asked, envelope))
        set_caller(proven.caller)
        return replace(asked, action_proof=proven.proof)

    async def BatchCommitValidated(
        self, request: pb.BatchCommitValidatedRequest, context: Context
    ) -> pb.BatchCommitValidatedResponse:
        """Commits many, each with an outcome of its own."""
        deadline = current_deadline()
        asked = convert.commit_batch_request(request, deadline, traceparent_of(context))
        answers = await self._use_cases.commit_batch(current_caller(), asked, deadline)
        return convert.commit_batch_response(value_or_refuse(answers))

    async def StreamCommitValidated(self, request_iterator: object, context: Context) -> None:  # type: ignore[override] # the stubs know generators only
        """Commits what comes, each with an outcome of its own, until the stream ends."""
        commit = value_or_refuse(await self._use_cases.open_commit_stream(current_caller()))
        await self._streams.serve(commit, context)

    async def RevokeCapability(
        self, request: pb.RevokeCapabilityRequest, context: Context
    ) -> pb.RevokeCapabilityResponse:
        """Withdraws a capability for ever."""
        caller = current_caller()
        asked = convert.revocation_request(caller, request)
        return convert.revocation_response(value_or_refuse(await self._use_cases.revoke_capability(caller, asked)))

    async def GetCommitReceipt(
        self, request: pb.GetCommitReceiptRequest, context: Context
    ) -> pb.GetCommitReceiptResponse:
        """Reads one receipt."""
        query = receipts.receipt_query(request)
        return receipts.receipt_response(value_or_refuse(await self._use_cases.get_receipt(current_caller(), query)))

    async def ListCommitReceipts(
        self, request: pb.ListCommitReceiptsRequest, context: Context
    ) -> pb.ListCommitReceiptsResponse:
        """Reads receipts page by page."""
        memory_namespace = values.identifier(request.memory_namespace, "memory_namespace")
        asked = values.page(request.page_size, request.page_token)
        page = await self._use_cases.list_receipts(current_caller(), memory_namespace, asked)
        return receipts.receipts_response(value_or_refuse(page))

    async def WatchRevocations(self, request: pb.WatchRevocationsRequest, context: Context) -> None:  # type: ignore[override] # the stubs know generators only
        """Tells what is withdrawn, as it is."""
        cursor = values.count(request.cursor, "cursor")
        stream = await open_stream()
        watch = await self._use_cases.open_revocation_watch(current_caller(), cursor)
        await serve_watch(watch, revocations.tidings_message, context, stream)

    async def GetKeySet(self, request: pb.GetKeySetRequest, context: Context) -> pb.GetKeySetResponse:
        """Tells the authority's keys to anyone."""
        return keys.key_set_response(await self._use_cases.get_key_set())
