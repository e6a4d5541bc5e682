"""EvidenceService: decode, use case, encode."""
# ruff: noqa: N802, ARG002 - the contract names the methods, gRPC gives the arguments

from authority.rpc.convert import evidence as convert
from authority.rpc.current_call import Context, current_caller
from authority.rpc.refused import value_or_refuse
from authority.rpc.use_cases import UseCases
from capability_authority.v1 import evidence_service_pb2 as pb
from capability_authority.v1.evidence_service_pb2_grpc import EvidenceServiceServicer


class EvidenceServicer(EvidenceServiceServicer):
    """Serves EvidenceService."""

    def __init__(self, use_cases: UseCases) -> None:
        self._use_cases = use_cases

    async def PutEvidence(self, request: pb.PutEvidenceRequest, context: Context) -> pb.PutEvidenceResponse:
        """Keeps evidence."""
        caller = current_caller()
        asked = convert.evidence_request(caller, request)
        kept = value_or_refuse(await self._use_cases.put_evidence(caller, asked))
        return pb.PutEvidenceResponse(evidence=convert.evidence_message(kept, with_content=False))

    async def ReadEvidence(self, request: pb.ReadEvidenceRequest, context: Context) -> pb.ReadEvidenceResponse:
        """Reads evidence with its content."""
        caller = current_caller()
        asked = convert.evidence_query(caller, request)
        found = value_or_refuse(await self._use_cases.read_evidence(caller, asked))
        return pb.ReadEvidenceResponse(evidence=convert.evidence_message(found, with_content=True))
