"""InteropService: decode, use case, encode."""
# ruff: noqa: N802, ARG002 - the contract names the methods, gRPC gives the arguments

from authority.rpc.convert import interop as convert
from authority.rpc.current_call import Context, current_caller
from authority.rpc.refused import value_or_refuse
from authority.rpc.use_cases import UseCases
from capability_authority.v1 import interop_service_pb2 as pb
from capability_authority.v1.interop_service_pb2_grpc import InteropServiceServicer


class InteropServicer(InteropServiceServicer):
    """Serves InteropService."""

    def __init__(self, use_cases: UseCases) -> None:
        self._use_cases = use_cases

    async def ResolveKey(self, request: pb.ResolveKeyRequest, context: Context) -> pb.ResolveKeyResponse:
        """Tells whose key an envelope was signed with."""
        resolved = await self._use_cases.resolve_key(current_caller(), convert.key_name(request.key_id))
        return convert.resolve_response(value_or_refuse(resolved))

    async def ReserveReplay(self, request: pb.ReserveReplayRequest, context: Context) -> pb.ReserveReplayResponse:
        """Lets an envelope pass once."""
        caller = current_caller()
        answer = await self._use_cases.reserve_replay(caller, convert.replay_request(caller, request))
        return convert.replay_response(value_or_refuse(answer))

    async def VerifyActionEnvelope(
        self, request: pb.VerifyActionEnvelopeRequest, context: Context
    ) -> pb.VerifyActionEnvelopeResponse:
        """Judges what an envelope's ids stand for."""
        question = convert.envelope_question(request)
        verdict = await self._use_cases.verify_action_envelope(current_caller(), question)
        return convert.verdict_response(value_or_refuse(verdict))
