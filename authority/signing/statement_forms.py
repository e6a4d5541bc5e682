"""Finds a statement in bytes that came from anywhere: a file, a terminal, an answer that was copied.

Whatever they are, they are read by the one reading rule (semantics §3) or refused with a sentence, and no size or
nesting of them can take this process down.
"""

import base64
import json
import re
from typing import Final

from authority.domain.statement import Statement
from capability_authority.offline import EnvelopeRefused, JsonError, JsonValue, from_dsse_json, parse, parse_statement
from capability_authority.v1.statements_pb2 import SignedStatement

MOST_BYTES: Final = 256 * 1024
"""More is not looked at: a payload has at most 32 KiB, and base64 of JSON with base64 in it is not twice as large."""

_BASE64: Final = re.compile(rb"[A-Za-z0-9+/_-]+={0,2}")
_URL_SAFE_TO_STANDARD: Final = bytes.maketrans(b"-_", b"+/")


class NotAStatement(ValueError):
    """The bytes hold no statement in any form that is read here; the message says why."""


def find_statement(data: bytes) -> Statement:
    """The one statement in `data`; neither its payload nor its signature is looked at.

    It is serialized, or JSON, or a DSSE JSON envelope, or JSON of an answer that holds exactly one statement; or any of
    these in base64. Raises `NotAStatement`.
    """
    if len(data) > MOST_BYTES:
        raise NotAStatement(f"it has more than {MOST_BYTES:,} bytes, and no statement is as large")
    if not data.strip():
        raise NotAStatement("it is empty")
    packed = b"".join(data.split())
    if _BASE64.fullmatch(packed):
        return _in_base64(packed)
    return _unpacked(data)


def _in_base64(packed: bytes) -> Statement:
    standard = packed.rstrip(b"=").translate(_URL_SAFE_TO_STANDARD)
    try:
        data = base64.b64decode(standard + b"=" * (-len(standard) % 4), validate=True)
    except ValueError:
        raise NotAStatement("it is neither a serialized statement nor JSON nor base64 of one") from None
    return _unpacked(data)


def _unpacked(data: bytes) -> Statement:
    if data.lstrip().startswith(b"{"):
        return _in_json(data)
    try:
        return _value(parse_statement(data))
    except EnvelopeRefused as error:
        raise NotAStatement(f"it is no serialized statement ({error.problem}), and neither JSON nor base64") from None


def _in_json(data: bytes) -> Statement:
    try:
        document = parse(data)
    except JsonError as error:
        raise NotAStatement(
            f"it begins like JSON and is none that is taken: {error.problem}{_at(error.path)}"
        ) from None
    assert isinstance(document, dict)  # It begins with a brace.
    if "signatures" in document:
        return _in_envelope(data)
    if not _is_statement(document):
        document = _only_statement(document)
    return _in_protobuf_json(document)


def _in_envelope(data: bytes) -> Statement:
    try:
        return _value(from_dsse_json(data))
    except EnvelopeRefused as error:
        raise NotAStatement(f"it is no DSSE envelope with one signature{_at(error.path)}") from None


def _in_protobuf_json(document: dict[str, JsonValue]) -> Statement:
    """By way of the envelope, whose reader takes base64 more exactly than protobuf's JSON does."""
    signature = document.get("signature", {})
    envelope = {
        "payloadType": document.get("payloadType", document.get("payload_type")),
        "payload": document["payload"],
        "signatures": [_signature_of(signature) if isinstance(signature, dict) else signature],
    }
    try:
        return _value(from_dsse_json(json.dumps(envelope)))
    except EnvelopeRefused as error:
        raise NotAStatement(f"it is no statement in JSON{_at(error.path)}") from None


def _signature_of(document: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Protobuf's JSON leaves out what is empty."""
    return {"keyid": document.get("keyId", document.get("key_id", "")), "sig": document.get("signature", "")}


def _only_statement(document: dict[str, JsonValue]) -> dict[str, JsonValue]:
    found = {name: value for name, value in document.items() if isinstance(value, dict) and _is_statement(value)}
    if len(found) != 1:
        held = f"several statements, {', '.join(sorted(found))}: give one of them" if found else "no statement"
        raise NotAStatement(f"this JSON holds {held}")
    (statement,) = found.values()
    return statement


def _is_statement(document: dict[str, JsonValue]) -> bool:
    return ("payloadType" in document or "payload_type" in document) and "payload" in document


def _value(signed: SignedStatement) -> Statement:
    return Statement(signed.payload_type, signed.payload, signed.signature.key_id, signed.signature.signature)


def _at(path: str | None) -> str:
    return f" (at {path})" if path else ""
