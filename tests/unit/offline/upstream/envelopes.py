"""Builds envelopes of `cognitum.action.v1`, good but for what a test changes."""

from typing import Any, Final

from capability_authority.offline import PrivateKey, PublicKey
from capability_authority.offline.upstream import (
    ActionEnvelopeRefused,
    ActionRef,
    EnvelopeHooks,
    Reservation,
    VerifiedActionEnvelope,
    sign_action_envelope,
    verify_action_envelope,
)
from capability_authority.offline.upstream.signed import base64url
from tests.unit.offline.builders import private_key

KEY: Final = private_key("upstream-holder")
TENANT: Final = {"namespace": "cognitum-tenant", "id": "acme"}
OCCURRED: Final = "2026-07-28T12:00:00.000Z"
OCCURRED_MS: Final = 1_785_240_000_000
NOW_MS: Final = OCCURRED_MS + 60_000
ABSENT: Final = object()
"""Leaves a field out."""


def envelope(**changed: Any) -> dict[str, Any]:
    """The envelope of a commit."""
    whole = {
        "schemaVersion": "cognitum.action.v1",
        "eventId": "event-1",
        "issuer": "ruflo.policy",
        "audience": "ruflo.memory",
        "subject": {"namespace": "ruflo-agent", "id": "agent-7"},
        "actor": {"namespace": "workload", "id": "spiffe://example/agent/coder"},
        "tenantRef": TENANT,
        "action": "memory.commit-validated",
        "resourceRefs": ["project/notes"],
        "requestDigest": "sha256:" + "a" * 64,
        "contentDigest": "sha256:" + "c" * 64,
        "idempotencyKey": "key-1",
        "correlationId": "correlation-1",
        "authoritativeSource": {
            "authority": "ruflo.memory",
            "tenantRef": TENANT,
            "sourceType": "ruflo.memory/validated-memory",
            "sourceId": "memory-1",
            "sourceVersion": "1",
            "sourceDigest": "sha256:" + "b" * 64,
        },
        "policyReceiptId": "receipt-1",
        "capabilityId": "capability-1",
        "validationReceiptId": "validation-1",
        "occurredAt": OCCURRED,
        "expiresAt": "2026-07-28T12:05:00.000Z",
        "privacyClass": "P1",
    } | changed
    return {name: value for name, value in whole.items() if value is not ABSENT}


def signed_text(key: PrivateKey = KEY, **changed: Any) -> bytes:
    """A signed envelope as text."""
    return sign_action_envelope(envelope(**changed), key)


def wrapped(**changed: Any) -> dict[str, Any]:
    """A signed envelope whose signature is made up: well formed, and good for nothing."""
    whole = {"envelope": envelope(), "algorithm": "Ed25519", "keyId": "key-1", "signature": base64url(bytes(64))}
    return {name: value for name, value in (whole | changed).items() if value is not ABSENT}


def hooks(key: PublicKey | None = KEY.public_key, **changed: Any) -> EnvelopeHooks:
    """Hooks that allow everything."""
    allowing: dict[str, Any] = {
        "resolve_key": lambda *_: key,
        "allows_policy": lambda _: True,
        "allows_capability": lambda _: True,
        "reserve": lambda *_: Reservation.RESERVED,
    }
    return EnvelopeHooks(**(allowing | changed))


def judged(
    signed: object, now_ms: int = NOW_MS, asked: EnvelopeHooks | None = None
) -> VerifiedActionEnvelope | ActionEnvelopeRefused:
    """The verdict."""
    return verify_action_envelope(
        signed, audience="ruflo.memory", tenant=ActionRef(**TENANT), now_ms=now_ms, hooks=asked or hooks()
    )
