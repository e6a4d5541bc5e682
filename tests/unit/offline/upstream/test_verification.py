"""The order of judgement: what comes first answers, and nothing that is denied is reserved."""

import json
from typing import Any

import pytest

from capability_authority.offline import ActionEnvelopeInvalid, KeyRefused, PublicKey, parse
from capability_authority.offline.upstream import (
    ActionEnvelopeRefused,
    Denial,
    SignedActionEnvelope,
    VerifiedActionEnvelope,
    action_time,
    read_signed_envelope_json,
    sign_action_envelope,
)
from tests.unit.offline.builders import private_key
from tests.unit.offline.upstream.envelopes import (
    ABSENT,
    KEY,
    NOW_MS,
    OCCURRED,
    OCCURRED_MS,
    TENANT,
    envelope,
    hooks,
    judged,
    signed_text,
    wrapped,
)

OTHER = private_key("somebody-else").public_key


def code_of(found: object) -> Denial | None:
    return found.code if isinstance(found, ActionEnvelopeRefused) else None


def test_a_good_one_is_verified_and_names_what_it_is_used_under() -> None:
    text = signed_text()

    found = judged(parse(text))

    assert isinstance(found, VerifiedActionEnvelope)
    assert found.envelope.subject.id == "agent-7"
    assert found.replay_key == (
        "12:ruflo.policy24:15:cognitum-tenant4:acme23:11:ruflo-agent7:agent-723:memory.commit-validated5:key-1"
    )


@pytest.mark.parametrize(
    ("now_ms", "code"),
    [
        (OCCURRED_MS - 30_001, Denial.NOT_YET_VALID),
        (OCCURRED_MS - 30_000, None),
        (OCCURRED_MS + 299_999, None),
        (OCCURRED_MS + 300_000, Denial.EXPIRED),
        (OCCURRED_MS + 300_001, Denial.STALE),
    ],
)
def test_its_time_has_edges(now_ms: int, code: Denial | None) -> None:
    assert code_of(judged(parse(signed_text()), now_ms)) is code


def test_without_an_expiry_it_expires_with_its_age() -> None:
    read: dict[str, Any] = {"action": "dashboard.status.read", "expiresAt": ABSENT}
    source = envelope()["authoritativeSource"] | {"authority": "comms", "sourceType": "comms/status"}
    signed = parse(signed_text(**read, authoritativeSource=source))

    assert code_of(judged(signed, OCCURRED_MS + 299_999)) is None
    assert code_of(judged(signed, OCCURRED_MS + 300_000)) is Denial.EXPIRED


def fail(*_: object) -> Any:
    raise RuntimeError("away")


def weak(*_: object) -> PublicKey:
    return PublicKey(bytes(32))


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"resolve_key": None}, Denial.SIGNATURE_CONFIGURATION_MISSING),
        ({"resolve_key": lambda *_: None}, Denial.KEY_NOT_FOUND),
        ({"resolve_key": weak}, Denial.KEY_NOT_FOUND),
        ({"resolve_key": lambda *_: OTHER}, Denial.SIGNATURE_INVALID),
        ({"allows_policy": lambda _: False}, Denial.POLICY_DENIED),
        ({"allows_capability": lambda _: False}, Denial.CAPABILITY_DENIED),
        ({"resolve_key": fail}, Denial.VERIFICATION_ERROR),
        ({"allows_policy": fail}, Denial.VERIFICATION_ERROR),
        ({"reserve": lambda *_: "reserved?"}, Denial.VERIFICATION_ERROR),
        ({"reserve": fail}, Denial.VERIFICATION_ERROR),
    ],
)
def test_whatever_a_hook_does_but_allow_denies(changed: dict[str, Any], code: Denial) -> None:
    reserved: list[object] = []
    changed = {"reserve": lambda *asked: reserved.append(asked)} | changed

    assert code_of(judged(parse(signed_text()), NOW_MS, hooks(**changed))) is code
    assert reserved == []


def test_e03_keys_for_which_anyone_can_sign_are_none() -> None:
    with pytest.raises(KeyRefused):
        weak()


@pytest.mark.parametrize("part", ["envelope", "signature"])
def test_whatever_was_changed_after_signing_is_not_signed(part: str) -> None:
    signed = json.loads(signed_text())
    signed[part] = envelope(sequence="1") if part == "envelope" else wrapped()["signature"]

    assert code_of(judged(signed)) is Denial.SIGNATURE_INVALID


def test_half_a_surrogate_pair_is_told_after_audience_and_tenant() -> None:
    broken = wrapped(envelope=envelope(subject={"namespace": "workload", "id": "\ud800"}))
    elsewhere = wrapped(envelope=broken["envelope"] | {"audience": "comms"})

    assert code_of(judged(broken)) is Denial.INVALID_ENVELOPE
    assert code_of(judged(elsewhere)) is Denial.AUDIENCE_MISMATCH


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"[]",
        b"\xff",
        b"\xef\xbb\xbf{}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"keyId":' + b"9" * 1_000_000 + b"}",
        b'{"keyId":1e999999}',
        b'{"keyId":NaN}',
        signed_text().decode().encode("utf-16"),
        signed_text() + b"x",
        signed_text().replace(b'"keyId":', b'"keyId":"x","keyId":'),
        signed_text().replace(b'"action":', b'"\\u0061ction":"x","action":'),
        signed_text().replace(b"agent-7", b"\\ud800"),
    ],
)
def test_text_that_has_no_single_reading_is_malformed(text: bytes) -> None:
    assert code_of(read_signed_envelope_json(text)) is Denial.MALFORMED_SIGNED_ENVELOPE


def test_spacing_and_order_of_the_text_do_not_matter() -> None:
    pretty = json.dumps(json.loads(signed_text()), indent=2, sort_keys=False).encode()

    first, second = read_signed_envelope_json(signed_text()), read_signed_envelope_json(pretty)

    assert isinstance(first, SignedActionEnvelope)
    assert first == second


def test_what_is_made_says_its_key_and_is_made_alike_each_time() -> None:
    made = sign_action_envelope(envelope(), KEY)

    assert made == sign_action_envelope(dict(reversed(envelope().items())), KEY)
    assert json.loads(made)["keyId"] == KEY.public_key.key_id
    assert json.loads(sign_action_envelope(envelope(), KEY, key_id="holder/1"))["keyId"] == "holder/1"


def test_what_nobody_would_take_is_not_signed() -> None:
    with pytest.raises(ActionEnvelopeInvalid, match=r"\$\.contentDigest missing") as raised:
        sign_action_envelope(envelope(contentDigest=ABSENT), KEY)

    assert len(raised.value.issues) == 1


@pytest.mark.parametrize(
    ("ms", "text"),
    [(OCCURRED_MS, OCCURRED), (0, "1970-01-01T00:00:00.000Z"), (-62_135_596_799_999, "0001-01-01T00:00:00.001Z")],
)
def test_times_are_written_as_envelopes_need_them(ms: int, text: str) -> None:
    assert action_time(ms) == text


@pytest.mark.parametrize("ms", [10**15, -(10**18)])
def test_times_that_no_calendar_holds_are_refused(ms: int) -> None:
    with pytest.raises(ValueError, match="between the years 1 and 9999"):
        action_time(ms)


def test_the_tenant_is_compared_whole() -> None:
    other = TENANT | {"namespace": "comms-tenant"}
    source = envelope()["authoritativeSource"] | {"tenantRef": other}

    assert code_of(judged(parse(signed_text(tenantRef=other, authoritativeSource=source)))) is Denial.TENANT_MISMATCH
