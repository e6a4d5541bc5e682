"""Judges single fields of a payload that came from outside, and turns them into domain values."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from google.protobuf.message import Message

from authority.domain import limits, shape
from authority.domain.references import Instant, PrincipalRef, TenantRef
from capability_authority.offline import DIGEST_BYTES, DigestError, from_wire, instant_ms
from capability_authority.v1 import types_pb2

M = TypeVar("M", bound=Message)
Value = TypeVar("Value")

_ID_PROBLEM = f"must be 1 to {limits.ID_BYTES} of: {shape.ID_RULE}"
_KEY_PROBLEM = f"must be 1 to {limits.KEY_BYTES} of: {shape.ID_RULE}"


class Misshapen(Exception):
    """The field at `path` (proto field names joined by dots) is not what the contract allows; `problem` says why."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(path, problem)
        self.path = path
        self.problem = problem


def within(path: str, decode: Callable[[M], Value], message: M) -> Value:
    """What `decode` makes of a nested message; the path of what it finds wrong begins with `path`."""
    try:
        return decode(message)
    except Misshapen as found:
        raise Misshapen(f"{path}.{found.path}", found.problem) from None


def identifier(text: str, path: str) -> str:
    """An id or a namespace (semantics §2, case A09)."""
    if not shape.is_id(text):
        raise Misshapen(path, _ID_PROBLEM)
    return text


def optional_identifier(text: str, path: str) -> str:
    """An id, or empty."""
    return identifier(text, path) if text else text


def identifiers(texts: Sequence[str], path: str) -> tuple[str, ...]:
    """Ids in order; the size of the payload limits their number."""
    return tuple(identifier(text, path) for text in texts)


def idempotency_key(text: str, path: str) -> str:
    """A commit idempotency key: an id of at most 128 bytes."""
    if not shape.is_id(text, limits.KEY_BYTES):
        raise Misshapen(path, _KEY_PROBLEM)
    return text


def uuid(text: str, path: str) -> str:
    """An id that this authority made."""
    if not shape.is_uuid(text):
        raise Misshapen(path, "must be a lowercase UUID")
    return text


def optional_uuid(text: str, path: str) -> str:
    """An id that this authority made, or empty."""
    return uuid(text, path) if text else text


def media_type(text: str, path: str) -> str:
    """A media type in which content can be proposed."""
    if not shape.is_media_type(text):
        raise Misshapen(path, "must be a media type that can be proposed")
    return text


def digest(raw: bytes, path: str) -> bytes:
    """A SHA-256 digest or key thumbprint."""
    if len(raw) != DIGEST_BYTES:
        raise Misshapen(path, f"must be {DIGEST_BYTES} bytes")
    return raw


def key_id(text: str, path: str) -> str:
    """A key id: the thumbprint of a public key in its wire form."""
    try:
        from_wire(text)
    except DigestError:
        raise Misshapen(path, 'must be "sha256:" and 64 lowercase hexadecimal digits') from None
    return text


def optional_digest(raw: bytes, path: str) -> bytes:
    """A digest, or empty."""
    return digest(raw, path) if raw else raw


def digests(raws: Sequence[bytes], path: str) -> tuple[bytes, ...]:
    """Evidence digests: ordered, at most 64, without duplicates (semantics §4)."""
    if len(raws) > limits.EVIDENCE_DIGESTS:
        raise Misshapen(path, f"must be at most {limits.EVIDENCE_DIGESTS}")
    taken = tuple(digest(raw, path) for raw in raws)
    if len(set(taken)) != len(taken):
        raise Misshapen(path, "must not repeat")
    return taken


def between(number: int, least: int, most: int, path: str) -> int:
    """A number in `[least, most]`."""
    if not least <= number <= most:
        raise Misshapen(path, f"must be {least} to {most}" if least != most else f"must be {least}")
    return number


def revision(number: int, path: str) -> int:
    """The number of a proposal revision."""
    return between(number, 1, limits.INT32_MAX, path)


def instant(message: Message, name: str) -> Instant:
    """The instant in the field `name`, which must be present: absent is not 1970.

    Whole milliseconds are part of the reading rule and were judged with it; here it is the range (case C15).
    """
    milliseconds = instant_ms(getattr(message, name)) if message.HasField(name) else None
    if milliseconds is None or not shape.is_instant(milliseconds):
        raise Misshapen(name, "must be an instant between the years 1970 and 9999")
    return Instant(milliseconds)


def tenant(ref: types_pb2.TenantRef, path: str) -> TenantRef:
    """A tenant; absent or empty is refused, never "all" (semantics §2)."""
    if not (shape.is_id(ref.namespace) and shape.is_id(ref.id)):
        raise Misshapen(_wrong_half(ref, path), _ID_PROBLEM)
    return TenantRef(ref.namespace, ref.id)


def principal(ref: types_pb2.PrincipalRef, path: str) -> PrincipalRef:
    """A principal of the payload's tenant."""
    if not (shape.is_id(ref.namespace) and shape.is_id(ref.id)):
        raise Misshapen(_wrong_half(ref, path), _ID_PROBLEM)
    return PrincipalRef(ref.namespace, ref.id)


def _wrong_half(ref: types_pb2.TenantRef | types_pb2.PrincipalRef, path: str) -> str:
    return f"{path}.id" if shape.is_id(ref.namespace) else f"{path}.namespace"
