"""Messages of InteropService."""

import hashlib

from authority.domain import limits
from authority.domain.identity import Caller
from authority.domain.key_alias import is_key_name
from authority.domain.refusal import Refusal, malformed, over_limit
from authority.domain.replay import ReplayAnswer
from authority.domain.shape import ID_RULE
from authority.domain.statement import KeyState
from authority.rpc.convert import values
from authority.rpc.convert.digests import digest
from authority.rpc.convert.enums import ERROR_REASONS, KEY_STATES, PRINCIPAL_KINDS, REPLAY_OUTCOMES
from authority.rpc.convert.marks import request_mark
from authority.rpc.convert.times import optional_instant, timestamp_message
from authority.rpc.refused import Refused
from authority.usecases.reserve_replay import ReplayRequest
from authority.usecases.resolve_key import ResolvedKey
from authority.usecases.verify_action_envelope import EnvelopeQuestion, EnvelopeVerdict
from capability_authority.v1 import interop_service_pb2 as pb


def key_name(text: str) -> str:
    """What an envelope calls a key."""
    if len(text) > limits.ID_BYTES:
        raise Refused(over_limit("key_id", f"{limits.ID_BYTES} bytes"))
    if not is_key_name(text):
        raise Refused(malformed("key_id", ID_RULE if text else "required"))
    return text


def resolve_response(resolved: ResolvedKey) -> pb.ResolveKeyResponse:
    """The key as it is sent."""
    key = resolved.key
    return pb.ResolveKeyResponse(
        key_id=key.key_id,
        public_key=key.public_key,
        principal=values.principal_message(key.principal.ref),
        principal_kind=PRINCIPAL_KINDS.number(key.principal.kind),
        state=KEY_STATES.number(KeyState.ACTIVE),
        create_time=timestamp_message(key.create_time),
        as_of_time=timestamp_message(resolved.as_of_time),
    )


def replay_request(caller: Caller, request: pb.ReserveReplayRequest) -> ReplayRequest:
    """What is to be reserved. The key's text is a stranger's: of it only a digest is kept."""
    values.require(request, "expire_time")
    expire_time = optional_instant(request, "expire_time")
    assert expire_time is not None  # It is required.
    return ReplayRequest(
        replay_key=_replay_key(request.replay_key),
        envelope_digest=digest(request.envelope_digest, "envelope_digest"),
        expire_time=expire_time,
        mark=request_mark(caller, request),
    )


def replay_response(answer: ReplayAnswer) -> pb.ReserveReplayResponse:
    """What became of it."""
    return pb.ReserveReplayResponse(outcome=REPLAY_OUTCOMES.number(answer.outcome), replayed=answer.replayed)


def envelope_question(request: pb.VerifyActionEnvelopeRequest) -> EnvelopeQuestion:
    """The envelope, unread, and the signer's key."""
    if not request.envelope_json:
        raise Refused(malformed("envelope_json", "required"))
    if len(request.envelope_json) > limits.ACTION_ENVELOPE_BYTES:
        raise Refused(over_limit("envelope_json", f"{limits.ACTION_ENVELOPE_BYTES} bytes"))
    return EnvelopeQuestion(request.envelope_json, key_name(request.key_id))


def verdict_response(verdict: EnvelopeVerdict) -> pb.VerifyActionEnvelopeResponse:
    """The verdicts as data."""
    return pb.VerifyActionEnvelopeResponse(
        policy=_verdict(verdict.policy), capability=_verdict(verdict.capability), receipt_id=verdict.receipt_id
    )


def _verdict(refusal: Refusal | None) -> pb.VerifyActionEnvelopeResponse.Verdict:
    kind = pb.VerifyActionEnvelopeResponse.Verdict
    if refusal is None:
        return kind(outcome=kind.OUTCOME_ALLOWED)
    return kind(outcome=kind.OUTCOME_DENIED, reason=ERROR_REASONS.number(refusal.reason), facts=refusal.facts)


def _replay_key(text: str) -> bytes:
    data = text.encode()
    if not data:
        raise Refused(malformed("replay_key", "required"))
    if len(data) > limits.REPLAY_KEY_BYTES:
        raise Refused(over_limit("replay_key", f"{limits.REPLAY_KEY_BYTES} bytes"))
    return hashlib.sha256(data).digest()
