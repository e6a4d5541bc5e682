"""ProposalService: decode, use case, encode."""
# ruff: noqa: N802, ARG002 - the contract names the methods, gRPC gives the arguments

from authority.rpc.convert import decisions, values
from authority.rpc.convert import proposals as convert
from authority.rpc.current_call import Context, current_caller, current_deadline, traceparent_of
from authority.rpc.refused import value_or_refuse
from authority.rpc.use_cases import UseCases
from authority.usecases.validate_proposal import StillValidating
from capability_authority.v1 import proposal_service_pb2 as pb
from capability_authority.v1.proposal_service_pb2_grpc import ProposalServiceServicer


class ProposalServicer(ProposalServiceServicer):
    """Serves ProposalService."""

    def __init__(self, use_cases: UseCases) -> None:
        self._use_cases = use_cases

    async def CreateProposal(self, request: pb.CreateProposalRequest, context: Context) -> pb.CreateProposalResponse:
        """Keeps a revision."""
        caller = current_caller()
        asked = convert.proposal_request(caller, request)
        kept = value_or_refuse(await self._use_cases.create_proposal(caller, asked))
        return pb.CreateProposalResponse(proposal=convert.proposal_message(kept))

    async def GetProposal(self, request: pb.GetProposalRequest, context: Context) -> pb.GetProposalResponse:
        """Reads one revision."""
        proposal_id = values.uuid(request.proposal_id, "proposal_id")
        revision = convert.newest_or_revision(request)
        found = await self._use_cases.get_proposal(current_caller(), proposal_id, revision)
        return convert.get_response(value_or_refuse(found))

    async def ListProposals(self, request: pb.ListProposalsRequest, context: Context) -> pb.ListProposalsResponse:
        """Reads proposals page by page, or what waits for persons."""
        if request.awaits_review:
            queue, asked = convert.review_page(request), values.page(request.page_size, request.page_token)
            awaited = await self._use_cases.list_reviews(current_caller(), queue, asked)
            return convert.review_response(value_or_refuse(awaited))
        memory_namespace = values.identifier(request.memory_namespace, "memory_namespace")
        state = convert.listed_state(request)
        asked = values.page(request.page_size, request.page_token)
        page = await self._use_cases.list_proposals(current_caller(), memory_namespace, state, asked)
        return convert.list_response(value_or_refuse(page))

    async def ValidateProposal(
        self, request: pb.ValidateProposalRequest, context: Context
    ) -> pb.ValidateProposalResponse:
        """Has validators judge a revision."""
        caller = current_caller()
        asked = convert.validation_request(caller, request, current_deadline())
        answer = await self._use_cases.validate_proposal(caller, asked)
        if isinstance(answer, StillValidating):
            return convert.still_validating()
        return convert.validation_response(value_or_refuse(answer))

    async def DecideProposal(self, request: pb.DecideProposalRequest, context: Context) -> pb.DecideProposalResponse:
        """Keeps a person's decision on a revision, or many."""
        caller, traceparent = current_caller(), traceparent_of(context)
        if request.decisions:
            mark, many = decisions.approval_requests(caller, request, traceparent)
            answers = await self._use_cases.decide_proposals(caller, mark, many)
            return decisions.approval_responses(value_or_refuse(answers))
        asked = decisions.approval_request(caller, request, traceparent)
        return decisions.approval_response(value_or_refuse(await self._use_cases.decide_proposal(caller, asked)))

    async def WithdrawProposal(
        self, request: pb.WithdrawProposalRequest, context: Context
    ) -> pb.WithdrawProposalResponse:
        """Withdraws a proposal for ever."""
        caller = current_caller()
        asked = convert.withdrawal(caller, request)
        return convert.withdrawal_response(value_or_refuse(await self._use_cases.withdraw_proposal(caller, asked)))
