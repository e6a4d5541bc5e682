"""Verbs of InteropService: what a verifier of signed action envelopes asks before it lets an action pass."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Unpack

from capability_authority.client.call_options import CallOptions
from capability_authority.client.connection import Connection
from capability_authority.client.credentials import Reference
from capability_authority.client.interop_values import ActionVerdict, EnvelopeVerdicts, ReplayReservation, ResolvedKey
from capability_authority.client.times import time_message
from capability_authority.client.words import word_of
from capability_authority.offline import KeyRefused, PublicKey
from capability_authority.v1 import interop_service_pb2 as pb
from capability_authority.v1 import types_pb2
from capability_authority.v1.errors_pb2 import ErrorReason

__all__ = ["InteropVerbs"]

_Verdict = pb.VerifyActionEnvelopeResponse.Verdict


class InteropVerbs(Connection):
    """For principals of kind service: whose key signed, what policy and capability say, and that it passes once."""

    async def resolve_key(self, key_id: str, **options: Unpack[CallOptions]) -> ResolvedKey:
        """The key that a signed envelope names by its thumbprint, or by a name that an operator registered.

        Raises `AuthorityError`: `NotFound` for every key by which nothing is to be verified, unknown and revoked alike;
        `KeyRefused` for an answer that is no public key, or another than was asked for.
        """
        response = await self._send(pb.ResolveKeyRequest(key_id=key_id), pb.ResolveKeyResponse, **options)
        public_key = PublicKey(response.public_key)
        is_other = key_id.startswith("sha256:") and key_id != response.key_id
        if is_other or response.key_id != public_key.key_id:
            raise KeyRefused(f"{key_id} was answered by the key {public_key.key_id}, called {response.key_id}")
        return ResolvedKey(
            key_id=response.key_id,
            public_key=public_key,
            principal=Reference(response.principal.namespace, response.principal.id),
            principal_kind=word_of(types_pb2.PrincipalKind, response.principal_kind),
            create_time=response.create_time.ToDatetime(tzinfo=UTC),
            as_of_time=response.as_of_time.ToDatetime(tzinfo=UTC),
        )

    async def reserve_replay(
        self,
        replay_key: str,
        *,
        envelope_digest: str,
        expire_time: datetime,
        request_id: str = "",
        **options: Unpack[CallOptions],
    ) -> ReplayReservation:
        """Let an envelope pass once: of all that reserve `replay_key`, in all processes, one is told "reserved".

        `expire_time` is when the envelope can no longer be accepted, at most 30 days ahead. A retry of this call is the
        same request, and so is a later one with its `request_id`.

        Raises `AuthorityError`: `Expired`, `LimitExceeded`; `Unavailable` and the like when nobody knows whether it was
        reserved: then the envelope must not pass.
        """
        request = pb.ReserveReplayRequest(
            request_id=request_id,
            replay_key=replay_key,
            envelope_digest=envelope_digest,
            expire_time=time_message(expire_time),
        )
        response = await self._send(request, pb.ReserveReplayResponse, **options)
        return ReplayReservation(word_of(pb.ReserveReplayResponse.Outcome, response.outcome), response.replayed)

    async def verify_action_envelope(
        self, envelope: Mapping[str, object] | str | bytes, *, key_id: str, **options: Unpack[CallOptions]
    ) -> EnvelopeVerdicts:
        """Ask what policy and capability say of an envelope whose signature, by the key `key_id`, the caller verified.

        `envelope` is what was signed, without its wrapper, as JSON or what a parser made of it. A denial is an answer.
        Raises `AuthorityError` when the question itself is refused.
        """
        text = json.dumps(envelope) if isinstance(envelope, Mapping) else envelope
        request = pb.VerifyActionEnvelopeRequest(
            envelope_json=text.encode() if isinstance(text, str) else text, key_id=key_id
        )
        response = await self._send(request, pb.VerifyActionEnvelopeResponse, **options)
        return EnvelopeVerdicts(_verdict(response.policy), _verdict(response.capability), response.receipt_id)


def _verdict(verdict: _Verdict) -> ActionVerdict:
    """Whatever is not plainly allowed is denied."""
    return ActionVerdict(
        allowed=verdict.outcome == _Verdict.OUTCOME_ALLOWED,
        reason=word_of(ErrorReason, verdict.reason).upper() if verdict.reason else "",
        facts=dict(verdict.facts),
    )
