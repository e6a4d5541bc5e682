"""What is wrong with an envelope is found whole, with upstream's paths and words, in upstream's order."""

from typing import Any

import pytest

from capability_authority.offline.upstream import (
    ACTIONS,
    ActionEnvelope,
    ActionEnvelopeRefused,
    Denial,
    read_action_envelope,
    read_signed_envelope,
)
from tests.unit.offline.upstream.envelopes import ABSENT, TENANT, envelope, wrapped

PERSON = {"namespace": "workload", "id": "w"}
SOURCE = envelope()["authoritativeSource"]


def issues_of(value: object) -> list[tuple[str, str]]:
    found = read_action_envelope(value)
    return [] if isinstance(found, ActionEnvelope) else [(issue.path, issue.code.value) for issue in found]


@pytest.mark.parametrize(
    ("changed", "issues"),
    [
        ({}, []),
        ({"actor": ABSENT}, []),
        ({"actor": None}, [("$.actor", "invalid_type")]),
        ({"subject": ABSENT}, [("$.subject", "invalid_type")]),
        ({"tenantRef": ABSENT}, [("$.tenantRef", "invalid_type")]),
        ({"eventId": ABSENT}, [("$.eventId", "missing")]),
        ({"eventId": 1}, [("$.eventId", "invalid_type")]),
        ({"eventId": ""}, [("$.eventId", "invalid_format")]),
        ({"eventId": "a\n"}, [("$.eventId", "invalid_format")]),
        ({"eventId": "-a"}, [("$.eventId", "invalid_format")]),
        ({"eventId": "a" * 256}, []),
        ({"eventId": "a" * 257}, [("$.eventId", "invalid_format")]),
        ({"subject": PERSON | {"id": "\U0001f600" * 256}}, []),
        ({"subject": PERSON | {"id": "\U0001f600" * 257}}, [("$.subject.id", "invalid_format")]),
        ({"subject": PERSON | {"namespace": "user"}}, [("$.subject.namespace", "identity_namespace_required")]),
        ({"subject": TENANT}, [("$.subject.namespace", "identity_namespace_required")]),
        ({"subject": PERSON | {"kind": "x"}}, [("$.subject.kind", "unknown_field")]),
        ({"issuer": "nobody", "audience": "nobody"}, [
            ("$.issuer", "invalid_authority"),
            ("$.audience", "invalid_authority"),
        ]),
        ({"resourceRefs": ["a"] * 33}, [("$.resourceRefs", "invalid_type")]),
        ({"resourceRefs": [str(number) for number in range(32)]}, []),
        ({"resourceRefs": ["a", None, "a", "a" * 513]}, [
            ("$.resourceRefs[1]", "invalid_format"),
            ("$.resourceRefs[2]", "unsupported_value"),
            ("$.resourceRefs[3]", "invalid_format"),
        ]),
        ({"sequence": "0"}, []),
        ({"sequence": "01"}, [("$.sequence", "invalid_format")]),
        ({"sequence": 1}, [("$.sequence", "invalid_type")]),
        ({"requestDigest": None}, [("$.requestDigest", "invalid_type")]),
        ({"expiresAt": "2026-07-28T12:00:00.000Z"}, [("$.expiresAt", "unsupported_value")]),
        ({"occurredAt": "0000-02-29T00:00:00.000Z"}, []),
        ({"occurredAt": "1900-02-29T00:00:00.000Z"}, [("$.occurredAt", "invalid_format")]),
        ({"occurredAt": "2026-07-28T24:00:00.000Z"}, [("$.occurredAt", "invalid_format")]),
        ({"occurredAt": "2026-07-28T23:59:60.000Z"}, [("$.occurredAt", "invalid_format")]),
        ({"occurredAt": "٢026-07-28T12:00:00.000Z"}, [("$.occurredAt", "invalid_format")]),
        ({"authoritativeSource": SOURCE | {"more": 1}}, [("$.authoritativeSource.more", "unknown_field")]),
        ({"tenantRef": TENANT | {"more": 1}, "authoritativeSource": SOURCE | {"tenantRef": TENANT | {"more": 1}}}, [
            ("$.tenantRef.more", "unknown_field"),
            ("$.authoritativeSource.tenantRef.more", "unknown_field"),
        ]),
        ({"authoritativeSource": ABSENT}, [("$.authoritativeSource", "invalid_type")]),
        ({"authoritativeSource": SOURCE | {"tenantRef": TENANT | {"id": "other"}}}, [
            ("$.authoritativeSource.tenantRef", "tenant_mismatch"),
        ]),
        ({"authoritativeSource": SOURCE | {"authority": "ruflo.policy"}}, [
            ("$.authoritativeSource.sourceType", "invalid_authority"),
            ("$.authoritativeSource.authority", "invalid_authority"),
        ]),
        ({"action": "ruview.semantic.publish"}, [
            ("$.privacyClass", "privacy_ceiling_exceeded"),
            ("$.authoritativeSource.authority", "invalid_authority"),
        ]),
        ({"10": 1, "x": 1, "2": 1}, [("$.2", "unknown_field"), ("$.10", "unknown_field"), ("$.x", "unknown_field")]),
    ],
)  # fmt: skip
def test_each_fault_is_named_where_it_is(changed: dict[str, Any], issues: list[tuple[str, str]]) -> None:
    assert issues_of(envelope(**changed)) == issues


@pytest.mark.parametrize("value", [None, 1, "text", [], [envelope()], {1: 2}])
def test_what_is_no_object_is_no_envelope(value: object) -> None:
    assert issues_of(value) == [("$", "invalid_type")]


@pytest.mark.parametrize("action", ACTIONS)
def test_every_action_misses_exactly_what_it_requires(action: str) -> None:
    optional = ["requestDigest", "contentDigest", "idempotencyKey", "expiresAt", "capabilityId", "validationReceiptId"]
    owner = min(ACTIONS[action].owners)
    source = SOURCE | {"authority": owner, "sourceType": f"{owner}/thing"}
    bare = envelope(action=action, authoritativeSource=source, privacyClass="P2", **dict.fromkeys(optional, ABSENT))

    assert issues_of(bare) == [(f"$.{name}", "missing") for name in ACTIONS[action].required]
    assert [name for name in optional if name in ACTIONS[action].required] == list(ACTIONS[action].required)


@pytest.mark.parametrize(
    ("changed", "issues"),
    [
        ({"envelope": ABSENT}, [("$.envelope", "missing")]),
        ({"algorithm": "none"}, [("$.algorithm", "unsupported_value")]),
        ({"algorithm": ABSENT, "keyId": ABSENT}, [("$.algorithm", "missing"), ("$.keyId", "missing")]),
        ({"keyId": "a b"}, [("$.keyId", "invalid_format")]),
        ({"signature": "A" * 85}, [("$.signature", "invalid_format")]),
        ({"signature": "A" * 86 + "=="}, [("$.signature", "invalid_format")]),
        ({"signature": "A" * 85 + "B"}, [("$.signature", "invalid_format")]),
        ({"signature": "A" * 84 + "+A"}, [("$.signature", "invalid_format")]),
        ({"signature": "A" * 129}, [("$.signature", "invalid_format")]),
        ({"more": 1}, [("$.more", "unknown_field")]),
    ],
)
def test_the_wrapper_is_exactly_what_it_is(changed: dict[str, Any], issues: list[tuple[str, str]]) -> None:
    found = read_signed_envelope(wrapped(**changed))

    assert isinstance(found, ActionEnvelopeRefused)
    assert found.code is Denial.MALFORMED_SIGNED_ENVELOPE
    assert [(issue.path, issue.code.value) for issue in found.issues] == issues
