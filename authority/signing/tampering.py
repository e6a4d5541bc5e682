"""Capabilities that were changed after they were signed, in every way there is: each bound term, each kind of byte.

By reflection over the payload, so that a term which is added is tampered with too (case E10).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias
from uuid import UUID

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from authority.domain.statement import Statement
from capability_authority.offline import DIGEST_BYTES, PAYLOAD_CLASSES, StatementError, read_payload
from capability_authority.v1.statements_pb2 import CommitCapability, CommitReceipt, Signature, SignedStatement

Put: TypeAlias = Callable[[Message], None]
"""Changes one field of a message, or of a message within."""

_ANOTHER_DIGEST: Final = b"\x5a" * DIGEST_BYTES
_ANOTHER_ID: Final = "5a5a5a5a-5a5a-4a5a-8a5a-5a5a5a5a5a5a"
_UNKNOWN_FIELD: Final = b"\xa2\x06\x01x"
"""Field 100, which no payload has, with one byte of text."""
_HIGHEST_BIT: Final = 0x80
"""Of the last byte: its lowest one may be that of the last term."""
_NANOS_PER_MS: Final = 1_000_000
_OF_A_RECEIPT: Final = next(name for name, kind in PAYLOAD_CLASSES.items() if kind is CommitReceipt)


class NotACapability(ValueError):
    """The statement is no commit capability that can be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Tampered:
    """A statement in which one thing differs from what was signed."""

    what: str
    """The term by its path, or the part of the statement."""
    change: str
    """How it was changed, in words."""
    message: Message


def signed(statement: Statement) -> Message:
    """The statement as it is, as a request takes it."""
    return _message(statement)


def terms_of(statement: Statement) -> CommitCapability:
    """What the capability says; its signature is not looked at. Raises `NotACapability`."""
    if PAYLOAD_CLASSES.get(statement.payload_type) is not CommitCapability:
        raise NotACapability(f"only a commit capability can be committed, and this is {statement.payload_type}")
    try:
        return read_payload(statement.payload_type, statement.payload, CommitCapability)
    except StatementError as error:
        raise NotACapability(f"its payload cannot be read: {error}") from None


def tampered(statement: Statement) -> Iterator[Tampered]:
    """The capability with each term changed under the old signature, then with other bytes. Raises `NotACapability`."""
    terms = terms_of(statement)
    for what, change, changed in _changed_terms(terms):
        payload = changed.SerializeToString(deterministic=True)
        yield Tampered(what, change, _message(statement, payload=payload))
    yield from _changed_bytes(statement)


def _message(
    statement: Statement,
    *,
    payload_type: str | None = None,
    payload: bytes | None = None,
    key_id: str | None = None,
    signature: bytes | None = None,
) -> SignedStatement:
    return SignedStatement(
        payload_type=statement.payload_type if payload_type is None else payload_type,
        payload=statement.payload if payload is None else payload,
        signature=Signature(
            key_id=statement.key_id if key_id is None else key_id,
            signature=statement.signature if signature is None else signature,
        ),
    )


# --- terms ------------------------------------------------------------------------------------------------------------


def _changed_terms(terms: CommitCapability) -> Iterator[tuple[str, str, CommitCapability]]:
    for path, change, put in _changes(terms):
        changed = CommitCapability()
        changed.CopyFrom(terms)
        put(changed)
        yield path, change, changed


def _changes(owner: Message) -> Iterator[tuple[str, str, Put]]:
    """Of each field its path, how it is changed, and what changes it in a copy of its owner."""
    for field in owner.DESCRIPTOR.fields:
        name, value = field.name, getattr(owner, field.name)
        if isinstance(value, Timestamp):
            yield name, "one millisecond later", partial(_put_off, name)
        elif isinstance(value, Message):
            for path, change, put in _changes(value):
                yield f"{name}.{path}", change, partial(_put_within, name, put)
        elif isinstance(value, str | bytes | int):
            other, change = _other(value)
            yield name, change, partial(_put, name, other)
        else:
            for items, change in _other_lists(list(value)):
                yield name, change, partial(_put_items, name, items)


def _put(name: str, value: str | bytes | int, owner: Message) -> None:
    setattr(owner, name, value)


def _put_within(name: str, put: Put, owner: Message) -> None:
    put(getattr(owner, name))


def _put_items(name: str, items: list[bytes], owner: Message) -> None:
    getattr(owner, name)[:] = items


def _put_off(name: str, owner: Message) -> None:
    time: Timestamp = getattr(owner, name)
    time.FromNanoseconds(time.ToNanoseconds() + _NANOS_PER_MS)


def _other(value: str | bytes | int) -> tuple[str | bytes | int, str]:
    """Another value of the same form, so that it is not refused for its form alone."""
    if isinstance(value, int):
        return value + 1, f"{value} → {value + 1}"
    if not value:
        return (_ANOTHER_DIGEST if isinstance(value, bytes) else _ANOTHER_ID), "set where nothing was"
    if isinstance(value, bytes):
        return _flipped(value, -1), "one bit flipped"
    first, second = "01" if _is_uuid(value) else "xy"
    return value[:-1] + (second if value.endswith(first) else first), "its last character changed"


def _other_lists(items: list[bytes]) -> Iterator[tuple[list[bytes], str]]:
    yield [*items, _ANOTHER_DIGEST], "one more"
    if items:
        yield items[1:], "one left out"
        yield [_flipped(items[0], -1), *items[1:]], "one bit of one flipped"
    if len(items) > 1:
        yield items[::-1], "in another order"


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


# --- bytes ------------------------------------------------------------------------------------------------------------


def _changed_bytes(statement: Statement) -> Iterator[Tampered]:
    """What no term says: the encoding, the signature, and what stands beside them."""
    payload, signature = statement.payload, statement.signature
    yield Tampered("payload", "its first byte flipped", _message(statement, payload=_flipped(payload, 0)))
    middle = _flipped(payload, len(payload) // 2)
    yield Tampered("payload", "its middle byte flipped", _message(statement, payload=middle))
    yield Tampered("payload", "its last byte flipped", _message(statement, payload=_flipped(payload, -1, _HIGHEST_BIT)))
    yield Tampered("payload", "its last byte cut off", _message(statement, payload=payload[:-1]))
    yield Tampered("payload", "an unknown field added", _message(statement, payload=payload + _UNKNOWN_FIELD))
    yield Tampered("signature", "its first byte flipped", _message(statement, signature=_flipped(signature, 0)))
    yield Tampered("signature", "its last byte flipped", _message(statement, signature=_flipped(signature, -1)))
    yield Tampered("signature", "taken away", _message(statement, signature=b""))
    key_id = statement.key_id[:-1] + ("1" if statement.key_id.endswith("0") else "0")
    yield Tampered("key_id", "its last character changed", _message(statement, key_id=key_id))
    yield Tampered("payload_type", "said to be a receipt", _message(statement, payload_type=_OF_A_RECEIPT))


def _flipped(data: bytes, index: int, bit: int = 1) -> bytes:
    changed = bytearray(data)
    if changed:
        changed[index] ^= bit
    return bytes(changed)
