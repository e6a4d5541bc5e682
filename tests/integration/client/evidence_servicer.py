"""EvidenceService of the small authority."""
# ruff: noqa: N802  # the contract names the methods

import grpc

from capability_authority.offline import sha256, timestamp, to_wire
from capability_authority.v1 import evidence_service_pb2 as pb
from capability_authority.v1 import types_pb2 as types
from capability_authority.v1.evidence_service_pb2_grpc import EvidenceServiceServicer
from tests.integration.client.state import NOW_MS, State
from tests.integration.client.witness import Context, Refusal


class EvidenceServicer(EvidenceServiceServicer):
    """Evidence in memory."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def PutEvidence(self, request: pb.PutEvidenceRequest, context: Context) -> pb.PutEvidenceResponse:
        """Keeps it under its digest."""
        evidence = pb.Evidence(
            digest=request.reference.digest or to_wire(sha256(request.content)),
            media_type=request.media_type,
            put_by=types.PrincipalRef(namespace="workload", id="committer"),
            visibility=request.visibility,
            state=pb.EVIDENCE_STATE_PENDING,
            put_time=timestamp(NOW_MS),
        )
        if request.HasField("claim"):
            evidence.claim.CopyFrom(request.claim)
            evidence.signed_by.CopyFrom(evidence.put_by)
        if request.reference.uri:
            evidence.reference = request.reference.uri
        self._state.evidence[evidence.digest] = evidence
        response = pb.PutEvidenceResponse(evidence=evidence)
        if request.content:
            evidence.content = request.content
        return response

    async def ReadEvidence(self, request: pb.ReadEvidenceRequest, context: Context) -> pb.ReadEvidenceResponse:
        """With its content."""
        if request.digest not in self._state.evidence:
            raise Refusal(grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
        return pb.ReadEvidenceResponse(evidence=self._state.evidence[request.digest])
