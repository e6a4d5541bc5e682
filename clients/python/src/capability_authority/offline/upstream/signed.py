"""Reads a signed envelope, from text or from what a JSON parser made of it, without believing it."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

from capability_authority.offline.canonical_json import canonicalize, parse
from capability_authority.offline.errors import JsonError
from capability_authority.offline.keys import SIGNATURE_BYTES
from capability_authority.offline.upstream.fields import Fields, Issues, as_object
from capability_authority.offline.upstream.structure import read_action_envelope
from capability_authority.offline.upstream.values import (
    ActionEnvelopeRefused,
    Denial,
    IssueCode,
    SignedActionEnvelope,
)

__all__ = ["ALGORITHM", "base64url", "read_signed_envelope", "read_signed_envelope_json"]

ALGORITHM: Final = "Ed25519"

_WRAPPER_FIELDS: Final = frozenset({"algorithm", "envelope", "keyId", "signature"})
_BASE64URL: Final = re.compile(r"[A-Za-z0-9_-]+")
_SIGNATURE_LENGTH: Final = 128


def read_signed_envelope_json(data: bytes) -> SignedActionEnvelope | ActionEnvelopeRefused:
    """As `read_signed_envelope`, from JSON text.

    Text that has no single reading, for one because a key stands in it twice, is `MALFORMED_SIGNED_ENVELOPE`, too; so
    is what is no text of UTF-8, and what breaks the authority's own rule for JSON (`offline.parse`).
    """
    try:
        value = parse(data)
    except JsonError:
        return ActionEnvelopeRefused(Denial.MALFORMED_SIGNED_ENVELOPE)
    return read_signed_envelope(value)


def read_signed_envelope(value: object) -> SignedActionEnvelope | ActionEnvelopeRefused:
    """The signed envelope, or MALFORMED_SIGNED_ENVELOPE or INVALID_ENVELOPE with every issue of it.

    Total: whatever the value is, it is answered. Nothing says yet that the named key signed anything.
    """
    wrapper = _read_wrapper(value)
    if isinstance(wrapper, ActionEnvelopeRefused):
        return wrapper
    members, key_id, signature = wrapper
    envelope = read_action_envelope(members)
    if isinstance(envelope, tuple):
        return ActionEnvelopeRefused(Denial.INVALID_ENVELOPE, envelope)
    return SignedActionEnvelope(envelope, _canonical(members), key_id, signature)


def base64url(data: bytes) -> str:
    """The one unpadded base64url form of some bytes."""
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _read_wrapper(value: object) -> tuple[object, str, bytes] | ActionEnvelopeRefused:
    if not as_object(value):
        return ActionEnvelopeRefused(Denial.MALFORMED_SIGNED_ENVELOPE)
    issues = Issues()
    fields = Fields(value, "$", issues)
    fields.refuse_unknown(_WRAPPER_FIELDS)
    algorithm = fields.text("algorithm", longest=16)
    key_id = fields.token("keyId")
    text = fields.text("signature", longest=_SIGNATURE_LENGTH)
    if algorithm is not None and algorithm != ALGORITHM:
        fields.note("algorithm", IssueCode.UNSUPPORTED_VALUE)
    signature = None if text is None else _signature(text)
    if text is not None and signature is None:
        fields.note("signature", IssueCode.INVALID_FORMAT)
    if "envelope" not in value:
        fields.note("envelope", IssueCode.MISSING)
    if issues or key_id is None or signature is None:
        return ActionEnvelopeRefused(Denial.MALFORMED_SIGNED_ENVELOPE, tuple(issues))
    return value["envelope"], key_id, signature


def _canonical(members: object) -> bytes | None:
    """Half a surrogate pair can stand in the texts that need no other form, and has no encoding."""
    try:
        return canonicalize(members)
    except JsonError:
        return None


def _signature(text: str) -> bytes | None:
    """The 64 bytes, of which exactly one text is accepted."""
    if _BASE64URL.fullmatch(text) is None or len(text) % 4 == 1:
        return None
    decoded = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return decoded if len(decoded) == SIGNATURE_BYTES and base64url(decoded) == text else None
