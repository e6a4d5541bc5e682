"""Statements as DSSE JSON envelopes (DSSE v1, envelope.md), for tools that know DSSE but not this project."""

import base64
import re
from typing import Final

from capability_authority.offline.canonical_json import JsonValue, canonicalize, parse
from capability_authority.offline.errors import EnvelopeRefused, JsonError
from capability_authority.v1.statements_pb2 import Signature, SignedStatement

__all__ = ["from_dsse_json", "to_dsse_json"]

_PROBLEM: Final = "not_dsse_json"
_URL_SAFE_TO_STANDARD: Final = str.maketrans("-_", "+/")
# The standard library takes padding behind whole groups, and not in every version: what is read here is one form.
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def to_dsse_json(statement: SignedStatement) -> str:
    """The DSSE JSON envelope of a statement, in canonical JSON; nothing is verified."""
    envelope = {
        "payloadType": statement.payload_type,
        "payload": _to_base64(statement.payload),
        "signatures": [
            {"keyid": statement.signature.key_id, "sig": _to_base64(statement.signature.signature)},
        ],
    }
    return canonicalize(envelope).decode("utf-8")


def from_dsse_json(text: str | bytes) -> SignedStatement:
    """The statement in a DSSE JSON envelope; nothing is verified.

    As DSSE asks, base64 may be standard or URL-safe, and members it does not define are ignored. Raises
    `EnvelopeRefused` for anything but an envelope with exactly one signature that names its key.
    """
    try:
        envelope = parse(text.encode("utf-8") if isinstance(text, str) else text)
    except (JsonError, UnicodeEncodeError):
        raise EnvelopeRefused(_PROBLEM) from None
    signature = _only_item(_member(envelope, "signatures"))
    return SignedStatement(
        payload_type=_text_member(envelope, "payloadType"),
        payload=_bytes_member(envelope, "payload"),
        signature=Signature(key_id=_text_member(signature, "keyid"), signature=_bytes_member(signature, "sig")),
    )


def _member(value: JsonValue, name: str) -> JsonValue:
    if not isinstance(value, dict) or name not in value:
        raise EnvelopeRefused(_PROBLEM, name)
    return value[name]


def _only_item(value: JsonValue) -> JsonValue:
    if not isinstance(value, list) or len(value) != 1:
        raise EnvelopeRefused(_PROBLEM, "signatures")
    return value[0]


def _text_member(value: JsonValue, name: str) -> str:
    text = _member(value, name)
    if not isinstance(text, str):
        raise EnvelopeRefused(_PROBLEM, name)
    return text


def _bytes_member(value: JsonValue, name: str) -> bytes:
    text = _text_member(value, name).translate(_URL_SAFE_TO_STANDARD)
    if _BASE64.fullmatch(text) is None:
        raise EnvelopeRefused(_PROBLEM, name)
    return base64.b64decode(text)


def _to_base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
