"""Protobuf's wire format by hand, for bytes that no encoder writes (protobuf.dev, "Encoding")."""

from collections.abc import Iterator
from typing import Final, NamedTuple

__all__ = [
    "BYTES",
    "END_GROUP",
    "FIXED32",
    "FIXED64",
    "START_GROUP",
    "VARINT",
    "Field",
    "field",
    "fields_of",
    "tag",
    "value_of",
    "varint",
]

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
START_GROUP: Final = 3
END_GROUP: Final = 4
FIXED32: Final = 5

_CONTINUED: Final = 0x80
_DIGIT: Final = 0x7F


class Field(NamedTuple):
    """One field as it stands on the wire: `raw` is its tag and value."""

    number: int
    wire_type: int
    raw: bytes


def varint(value: int, *, size: int = 0) -> bytes:
    """The variable-length form of a number that is not negative, filled with empty digits up to `size` bytes."""
    digits: list[int] = []
    while value or not digits or len(digits) < size:
        digits.append(value & _DIGIT)
        value >>= 7
    return bytes([digit | _CONTINUED for digit in digits[:-1]] + digits[-1:])


def tag(number: int, wire_type: int, *, size: int = 0) -> bytes:
    """What stands before a field's value."""
    return varint(number << 3 | wire_type, size=size)


def field(number: int, value: bytes | int) -> bytes:
    """A field with a length and bytes, or with a number."""
    if isinstance(value, int):
        return tag(number, VARINT) + varint(value)
    return tag(number, BYTES) + varint(len(value)) + value


def value_of(field: Field) -> bytes:
    """What stands in a field behind its tag and length, whatever bytes those are written in."""
    if field.wire_type != BYTES:
        raise ValueError("only a value with a length has bytes")
    _, position = _read_varint(field.raw, 0)
    _, position = _read_varint(field.raw, position)
    return field.raw[position:]


def fields_of(data: bytes) -> tuple[Field, ...]:
    """The fields of well-formed bytes, in their order."""
    return tuple(_fields(data))


def _fields(data: bytes) -> Iterator[Field]:
    position = 0
    while position < len(data):
        start = position
        key, position = _read_varint(data, position)
        position = _skip(data, position, key & 7)
        yield Field(key >> 3, key & 7, data[start:position])


def _skip(data: bytes, position: int, wire_type: int) -> int:
    """Where the value ends. Payloads have numbers and lengths alone."""
    if wire_type == VARINT:
        return _read_varint(data, position)[1]
    if wire_type == BYTES:
        length, position = _read_varint(data, position)
        return position + length
    raise ValueError(f"wire type {wire_type} stands in no payload")


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        digit = data[position]
        value |= (digit & _DIGIT) << shift
        position, shift = position + 1, shift + 7
        if digit < _CONTINUED:
            return value, position
