"""PolicyService: decode, use case, encode."""
# ruff: noqa: N802, ARG002 - the contract names the methods, gRPC gives the arguments

from authority.rpc.convert import policies as convert
from authority.rpc.convert.digests import digest
from authority.rpc.current_call import Context, current_caller
from authority.rpc.refused import value_or_refuse
from authority.rpc.use_cases import UseCases
from capability_authority.v1 import policy_service_pb2 as pb
from capability_authority.v1.policy_service_pb2_grpc import PolicyServiceServicer


class PolicyServicer(PolicyServiceServicer):
    """Serves PolicyService."""

    def __init__(self, use_cases: UseCases) -> None:
        self._use_cases = use_cases

    async def EvaluatePolicy(self, request: pb.EvaluatePolicyRequest, context: Context) -> pb.EvaluatePolicyResponse:
        """Has policy decide on a holder committing a revision."""
        caller = current_caller()
        asked = convert.policy_request(caller, request)
        return convert.policy_response(value_or_refuse(await self._use_cases.evaluate_policy(caller, asked)))

    async def GetPolicyVersion(
        self, request: pb.GetPolicyVersionRequest, context: Context
    ) -> pb.GetPolicyVersionResponse:
        """Reads a bundle."""
        version = digest(request.policy_version, "policy_version")
        found = await self._use_cases.get_policy_version(current_caller(), version)
        return convert.version_response(value_or_refuse(found))
