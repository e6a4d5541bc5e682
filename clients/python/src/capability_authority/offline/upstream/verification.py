"""Verifies a signed envelope in upstream's order.

Structure, audience, tenant, clock, signature, policy, capability; and the reservation against replays last, so that
nothing that is denied uses anything up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from capability_authority.offline.digests import sha256, to_wire
from capability_authority.offline.errors import KeyRefused
from capability_authority.offline.keys import PublicKey
from capability_authority.offline.upstream.fields import utf16_length
from capability_authority.offline.upstream.signed import read_signed_envelope
from capability_authority.offline.upstream.values import (
    ActionEnvelope,
    ActionEnvelopeRefused,
    ActionRef,
    Denial,
    SignedActionEnvelope,
)
from capability_authority.offline.upstream.vocabulary import ACTIONS

__all__ = [
    "MOST_AGE_MS",
    "MOST_SKEW_MS",
    "EnvelopeHooks",
    "Reservation",
    "VerifiedActionEnvelope",
    "envelope_digest",
    "judge_destination",
    "judge_encoding",
    "judge_signature",
    "judge_times",
    "replay_key",
    "verify_action_envelope",
]

MOST_AGE_MS: Final = 5 * 60_000
"""How old an envelope may be."""
MOST_SKEW_MS: Final = 30_000
"""How far the clock of whoever made it may be ahead."""


class Reservation(StrEnum):
    """What a store of replays says of an envelope."""

    RESERVED = "reserved"
    REPLAY = "replay"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeHooks:
    """What is asked of the world. An exception of any of them denies with `VERIFICATION_ERROR`."""

    resolve_key: Callable[[str, str], PublicKey | None] | None
    """The issuer's key of this id. Whatever it builds as a `PublicKey` is of no small order (case E03)."""
    allows_policy: Callable[[ActionEnvelope], bool]
    allows_capability: Callable[[ActionEnvelope], bool]
    reserve: Callable[[str, str, int], Reservation]
    """Atomically: the replay key, the digest that it is for, and until when it must be remembered, as milliseconds."""


@dataclass(frozen=True, slots=True)
class VerifiedActionEnvelope:
    """An envelope that may be acted on."""

    envelope: ActionEnvelope
    digest: str
    """Of its canonical form, as "sha256:…"."""
    replay_key: str


def verify_action_envelope(
    signed: object,
    *,
    audience: str,
    tenant: ActionRef,
    now_ms: int,
    hooks: EnvelopeHooks,
) -> VerifiedActionEnvelope | ActionEnvelopeRefused:
    """Judges what a JSON parser made of a signed envelope. Total: every value is answered.

    Of text, read it with `read_signed_envelope_json` and go through the three judges below, or parse it with
    `offline.parse`, which takes no key twice.
    """
    found = read_signed_envelope(signed)
    if isinstance(found, ActionEnvelopeRefused):
        return found
    try:
        denial = (
            judge_destination(found.envelope, audience, tenant)
            or judge_times(found.envelope, now_ms)
            or judge_encoding(found)
            or _judge_key(found, hooks)
            or _judge_rights(found.envelope, hooks)
            or _reserve(found, hooks)
        )
    except Exception:  # noqa: BLE001 - whatever a hook stumbles over, it has allowed nothing
        denial = Denial.VERIFICATION_ERROR
    if denial:
        return ActionEnvelopeRefused(denial)
    return VerifiedActionEnvelope(found.envelope, envelope_digest(found), replay_key(found.envelope))


def judge_destination(envelope: ActionEnvelope, audience: str, tenant: ActionRef) -> Denial | None:
    """AUDIENCE_MISMATCH, TENANT_MISMATCH or None."""
    if envelope.audience != audience:
        return Denial.AUDIENCE_MISMATCH
    return None if envelope.tenant == tenant else Denial.TENANT_MISMATCH


def judge_times(envelope: ActionEnvelope, now_ms: int) -> Denial | None:
    """NOT_YET_VALID beyond the skew, STALE beyond five minutes, EXPIRED from the boundary on, or None."""
    if envelope.occurred_ms > now_ms + MOST_SKEW_MS:
        return Denial.NOT_YET_VALID
    if now_ms - envelope.occurred_ms > MOST_AGE_MS:
        return Denial.STALE
    return Denial.EXPIRED if _expire_ms(envelope) <= now_ms else None


def judge_encoding(signed: SignedActionEnvelope) -> Denial | None:
    """INVALID_ENVELOPE when it has no canonical form, or None."""
    return Denial.INVALID_ENVELOPE if signed.canonical is None else None


def judge_signature(signed: SignedActionEnvelope, key: PublicKey) -> Denial | None:
    """SIGNATURE_INVALID unless exactly this key signed the envelope's canonical form."""
    is_signed = signed.canonical is not None and key.verify(signed.signature, signed.canonical)
    return None if is_signed else Denial.SIGNATURE_INVALID


def envelope_digest(signed: SignedActionEnvelope) -> str:
    """SHA-256 over the envelope's canonical form, as "sha256:…"; of one without such a form, over nothing."""
    return to_wire(sha256(signed.canonical or b""))


def replay_key(envelope: ActionEnvelope) -> str:
    """Under which an envelope can be used once: who asks for what, with which idempotency key or event id."""
    parts = (
        envelope.issuer,
        _reference_key(envelope.tenant),
        _reference_key(envelope.subject),
        envelope.action,
        envelope.idempotency_key or envelope.event_id,
    )
    return "".join(map(_measured, parts))


def _judge_key(signed: SignedActionEnvelope, hooks: EnvelopeHooks) -> Denial | None:
    if hooks.resolve_key is None:
        return Denial.SIGNATURE_CONFIGURATION_MISSING
    try:
        key = hooks.resolve_key(signed.envelope.issuer, signed.key_id)
    except KeyRefused:
        key = None
    return Denial.KEY_NOT_FOUND if key is None else judge_signature(signed, key)


def _judge_rights(envelope: ActionEnvelope, hooks: EnvelopeHooks) -> Denial | None:
    if not hooks.allows_policy(envelope):
        return Denial.POLICY_DENIED
    is_asked = ACTIONS[envelope.action].needs_capability or envelope.capability_id is not None
    return Denial.CAPABILITY_DENIED if is_asked and not hooks.allows_capability(envelope) else None


def _reserve(signed: SignedActionEnvelope, hooks: EnvelopeHooks) -> Denial | None:
    answer = hooks.reserve(replay_key(signed.envelope), envelope_digest(signed), _expire_ms(signed.envelope))
    denials = {Reservation.REPLAY: Denial.REPLAY_DETECTED, Reservation.CONFLICT: Denial.IDEMPOTENCY_CONFLICT}
    return None if answer is Reservation.RESERVED else denials[answer]


def _expire_ms(envelope: ActionEnvelope) -> int:
    return envelope.occurred_ms + MOST_AGE_MS if envelope.expires_ms is None else envelope.expires_ms


def _reference_key(reference: ActionRef) -> str:
    return _measured(reference.namespace) + _measured(reference.id)


def _measured(text: str) -> str:
    return f"{utf16_length(text)}:{text}"
