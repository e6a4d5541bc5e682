"""InteropService of the small authority."""
# ruff: noqa: N802  # the contract names the methods

import json

import grpc

from capability_authority.offline import timestamp, to_wire
from capability_authority.v1 import interop_service_pb2 as pb
from capability_authority.v1 import types_pb2 as types
from capability_authority.v1.errors_pb2 import ERROR_REASON_BINDING_MISMATCH
from capability_authority.v1.interop_service_pb2_grpc import InteropServiceServicer
from tests.integration.client.state import NOW_MS, State
from tests.integration.client.witness import Context, Refusal

_Reservation = pb.ReserveReplayResponse
_Verdict = pb.VerifyActionEnvelopeResponse.Verdict


class InteropServicer(InteropServiceServicer):
    """Knows one key, by any name of it, and which envelopes passed."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def ResolveKey(self, request: pb.ResolveKeyRequest, context: Context) -> pb.ResolveKeyResponse:
        """The receipt key stands for whoever's; it is also the answer to "swapped" and a thumbprint, as it must not."""
        if request.key_id != "k1" and not request.key_id.startswith(("swapped", "sha256:")):
            raise Refusal(grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
        key = self._state.signing[types.KEY_PURPOSE_RECEIPT].public_key
        return pb.ResolveKeyResponse(
            key_id=to_wire(bytes(32)) if request.key_id == "swapped" else key.key_id,
            public_key=key.raw,
            principal=types.PrincipalRef(namespace="workload", id="committer"),
            principal_kind=types.PRINCIPAL_KIND_SERVICE,
            state=types.KEY_STATE_ACTIVE,
            create_time=timestamp(NOW_MS),
            as_of_time=timestamp(NOW_MS + 1),
        )

    async def ReserveReplay(self, request: pb.ReserveReplayRequest, context: Context) -> pb.ReserveReplayResponse:
        """Once for each key, and again for the same request."""
        first = self._state.reserved.setdefault(request.replay_key, request)
        if first.request_id == request.request_id:
            return _Reservation(outcome=_Reservation.OUTCOME_RESERVED, replayed=first is not request)
        is_same = first.envelope_digest == request.envelope_digest
        return _Reservation(outcome=_Reservation.OUTCOME_REPLAY if is_same else _Reservation.OUTCOME_CONFLICT)

    async def VerifyActionEnvelope(
        self, request: pb.VerifyActionEnvelopeRequest, context: Context
    ) -> pb.VerifyActionEnvelopeResponse:
        """Denies what names another capability than "c1"."""
        response = pb.VerifyActionEnvelopeResponse(policy=_Verdict(outcome=_Verdict.OUTCOME_ALLOWED))
        if json.loads(request.envelope_json)["capabilityId"] == "c1":
            response.capability.outcome = _Verdict.OUTCOME_ALLOWED
            return response
        response.capability.outcome = _Verdict.OUTCOME_DENIED
        response.capability.reason = ERROR_REASON_BINDING_MISMATCH
        response.capability.facts["term"] = "audience"
        response.receipt_id = "receipt"
        return response
