"""GrantService: decode, use case, encode."""
# ruff: noqa: N802, ARG002 - the contract names the methods, gRPC gives the arguments

from authority.rpc.convert import grant_verdicts
from authority.rpc.convert import grants as convert
from authority.rpc.convert.digests import digest
from authority.rpc.current_call import Context, current_caller
from authority.rpc.refused import value_or_refuse
from authority.rpc.use_cases import UseCases
from capability_authority.v1 import grant_service_pb2 as pb
from capability_authority.v1.grant_service_pb2_grpc import GrantServiceServicer


class GrantServicer(GrantServiceServicer):
    """Serves GrantService."""

    def __init__(self, use_cases: UseCases) -> None:
        self._use_cases = use_cases

    async def IssueGrant(self, request: pb.IssueGrantRequest, context: Context) -> pb.IssueGrantResponse:
        """Makes a root."""
        caller = current_caller()
        asked = convert.grant_request(caller, request)
        return convert.grant_response(value_or_refuse(await self._use_cases.issue_grant(caller, asked)))

    async def ExchangeGrant(self, request: pb.ExchangeGrantRequest, context: Context) -> pb.ExchangeGrantResponse:
        """Makes a child of what the caller holds."""
        caller = current_caller()
        asked = convert.exchange_request(caller, request)
        return convert.exchange_response(value_or_refuse(await self._use_cases.exchange_grant(caller, asked)))

    async def RevokeGrant(self, request: pb.RevokeGrantRequest, context: Context) -> pb.RevokeGrantResponse:
        """Withdraws a grant for ever, with all that was derived from it."""
        caller = current_caller()
        asked = convert.revocation_request(caller, request)
        return convert.revocation_response(value_or_refuse(await self._use_cases.revoke_grant(caller, asked)))

    async def GetGrant(self, request: pb.GetGrantRequest, context: Context) -> pb.GetGrantResponse:
        """Reads one grant."""
        wanted = digest(request.grant_digest, "grant_digest")
        return convert.found_response(value_or_refuse(await self._use_cases.get_grant(current_caller(), wanted)))

    async def VerifyGrant(self, request: pb.VerifyGrantRequest, context: Context) -> pb.VerifyGrantResponse:
        """Judges a grant and changes nothing."""
        asked = grant_verdicts.grant_question(request)
        return grant_verdicts.verdict_response(
            value_or_refuse(await self._use_cases.verify_grant(current_caller(), asked))
        )
