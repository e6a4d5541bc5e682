"""Messages of InteropService: verdicts are data, and what is too long is told from what is long."""

import hashlib

import pytest
from google.protobuf.json_format import MessageToDict
from google.protobuf.timestamp_pb2 import Timestamp

from authority.domain import limits
from authority.domain.identity import Caller, Principal, PrincipalKind
from authority.domain.reasons import Reason
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.refusal import Refusal, malformed
from authority.domain.replay import ReplayAnswer, ReplayOutcome
from authority.rpc.convert import interop
from authority.rpc.refused import Refused
from authority.usecases.verify_action_envelope import EnvelopeVerdict
from capability_authority.v1 import interop_service_pb2 as pb

KEY = "k1"
DIGEST = "sha256:" + "a" * 64
SERVICE = Caller(
    Principal(TenantRef("test", "one"), PrincipalRef("test", "service"), PrincipalKind.SERVICE, frozenset()),
    key_id=DIGEST,
    proof=None,
    one_use=False,
)


def reservation(replay_key: str) -> pb.ReserveReplayRequest:
    """A request that reserves it."""
    expire_time = Timestamp(seconds=1_800_000_000)
    return pb.ReserveReplayRequest(
        request_id="r1", replay_key=replay_key, envelope_digest=DIGEST, expire_time=expire_time
    )


def test_what_is_allowed_is_told_plainly() -> None:
    allowed = {"outcome": "OUTCOME_ALLOWED"}
    assert MessageToDict(interop.verdict_response(EnvelopeVerdict(None, None))) == {
        "policy": allowed,
        "capability": allowed,
    }


@pytest.mark.parametrize("reason", Reason)
def test_a_denial_is_told_with_its_reason_and_facts_on_its_own_side(reason: Reason) -> None:
    verdict = EnvelopeVerdict(None, Refusal(reason, {"term": "audience"}), "receipt-1")
    denied = {"outcome": "OUTCOME_DENIED", "reason": f"ERROR_REASON_{reason.name}", "facts": {"term": "audience"}}

    told = MessageToDict(interop.verdict_response(verdict))
    assert told == {"policy": {"outcome": "OUTCOME_ALLOWED"}, "capability": denied, "receiptId": "receipt-1"}

    told = MessageToDict(interop.verdict_response(EnvelopeVerdict(verdict.capability, None)))
    assert told == {"policy": denied, "capability": {"outcome": "OUTCOME_ALLOWED"}}


@pytest.mark.parametrize("outcome", ReplayOutcome)
@pytest.mark.parametrize("replayed", [True, False])
def test_what_became_of_a_reservation_is_told(outcome: ReplayOutcome, *, replayed: bool) -> None:
    told = interop.replay_response(ReplayAnswer(outcome, replayed=replayed))
    assert pb.ReserveReplayResponse.Outcome.Name(told.outcome) == f"OUTCOME_{outcome.name}"
    assert told.replayed is replayed


@pytest.mark.parametrize("text", ["k", "é" * (limits.REPLAY_KEY_BYTES // 2), "k" * limits.REPLAY_KEY_BYTES])
def test_of_a_replay_key_its_digest_is_kept(text: str) -> None:
    assert interop.replay_request(SERVICE, reservation(text)).replay_key == hashlib.sha256(text.encode()).digest()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Reason.MALFORMED),
        ("é" * (limits.REPLAY_KEY_BYTES // 2) + "k", Reason.LIMIT_EXCEEDED),
        ("k" * (limits.REPLAY_KEY_BYTES + 1), Reason.LIMIT_EXCEEDED),
    ],
)
def test_no_replay_key_is_empty_or_longer_than_its_limit_in_bytes(text: str, reason: Reason) -> None:
    with pytest.raises(Refused) as refused:
        interop.replay_request(SERVICE, reservation(text))
    assert refused.value.refusal.reason is reason
    assert refused.value.refusal.facts["field"] == "replay_key"


def test_an_envelope_has_a_limit_and_is_there() -> None:
    longest = b" " * limits.ACTION_ENVELOPE_BYTES
    request = pb.VerifyActionEnvelopeRequest(envelope_json=longest, key_id=KEY)
    assert interop.envelope_question(request).envelope_json == longest

    for envelope_json, reason in ((longest + b" ", Reason.LIMIT_EXCEEDED), (b"", Reason.MALFORMED)):
        with pytest.raises(Refused) as refused:
            interop.envelope_question(pb.VerifyActionEnvelopeRequest(envelope_json=envelope_json, key_id=KEY))
        assert refused.value.refusal.reason is reason
        assert refused.value.refusal.facts["field"] == "envelope_json"


def test_the_name_of_a_key_is_one_that_upstream_would_read() -> None:
    for name in ("k", "a" * limits.ID_BYTES, DIGEST, "loader/key-1", "A+b@c:d.e_f"):
        assert interop.key_name(name) == name
    assert refusal_of("") == malformed("key_id", "required")
    assert refusal_of("a" * (limits.ID_BYTES + 1)).reason is Reason.LIMIT_EXCEEDED
    for name in (" k", "k ", "k\n", "-k", "k|l", "schlüssel"):
        assert refusal_of(name).reason is Reason.MALFORMED, name
        assert refusal_of(name) != refusal_of("")


def refusal_of(name: str) -> Refusal:
    """Why it names no key."""
    with pytest.raises(Refused) as refused:
        interop.key_name(name)
    return refused.value.refusal
