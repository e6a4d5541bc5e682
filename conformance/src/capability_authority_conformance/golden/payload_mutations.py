"""Payloads of every kind, changed in the ways in which two readers come to differ: for the differential fuzz.

Given the same seed, the same payloads come in the same order, on every machine.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

from capability_authority_conformance.golden import wire
from capability_authority_conformance.golden.samples import SAMPLES

__all__ = ["Draw", "payloads"]

Item = TypeVar("Item")

_MOST_CHANGES: Final = 3
_DEEPEST: Final = 3
_MOST_INSERTED: Final = 4
_NUMBERS: Final = (
    0,
    1,
    2,
    3,
    9,
    99,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**32 + 1,
    2**53 + 1,
    2**63 - 1,
    2**63,
    2**64 - 1,
)
_TEXTS: Final = (
    b"",
    b"a",
    b"\x00",
    b"\xff",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b"\xed\xa0\xbd\xed\xb8\x80",
    b"\xef\xbb\xbfa",
    b"\xf0\x9f\x98\x80",
    b"\xf4\x90\x80\x80",
    b"\x08\x01",
    b"\x10\x01",
    b"\x10\xc0\x84\x3d",
)
_UNUSUAL_WIRE_TYPES: Final = (
    wire.VARINT,
    wire.FIXED64,
    wire.BYTES,
    wire.START_GROUP,
    wire.END_GROUP,
    wire.FIXED32,
    6,
    7,
)


class Draw:
    """Numbers that look random and follow from a seed."""

    def __init__(self, seed: int) -> None:
        # Of this generator Python promises that `random()` stays the same in every version, and of nothing else.
        self._source = random.Random(seed)  # noqa: S311 - nothing secret is drawn

    def below(self, end: int) -> int:
        """One of 0, 1, 2 … end - 1."""
        return int(self._source.random() * end)

    def one(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.below(len(items))]

    def raw(self, size: int) -> bytes:
        """So many bytes."""
        return bytes(self.below(256) for _ in range(size))


def payloads(draw: Draw) -> Iterator[tuple[str, bytes]]:
    """Payload types with payloads, for ever: most of them changed, and some left as they were."""
    kinds = tuple(SAMPLES.values())
    whole = [(sample.payload_type, wire.fields_of(sample.payload)) for sample in kinds]
    while True:
        payload_type, fields = draw.one(whole)
        payload = b"".join(field.raw for field in _some(draw, fields))
        for _ in range(draw.below(_MOST_CHANGES + 1)):
            payload = _changed(draw, payload, _DEEPEST)
        yield payload_type, payload


def _some(draw: Draw, fields: Sequence[wire.Field]) -> list[wire.Field]:
    """All of the fields, or a few of them in their order: short payloads change where it matters."""
    if not draw.below(4):
        return list(fields)
    return [field for field in fields if not draw.below(4)]


def _changed(draw: Draw, data: bytes, depth: int) -> bytes:
    """One change, at this depth or below."""
    try:
        fields = list(wire.fields_of(data))
    except (ValueError, IndexError):
        return _changed_bytes(draw, data)
    if not fields or not draw.below(4):
        return _changed_bytes(draw, data) if draw.below(2) else _with_another(draw, data)
    index = draw.below(len(fields))
    if depth and fields[index].wire_type == wire.BYTES and draw.below(2):
        below = wire.field(fields[index].number, _changed(draw, wire.value_of(fields[index]), depth - 1))
        return _joined([*fields[:index], wire.Field(0, 0, below), *fields[index + 1 :]])
    return draw.one(_FIELD_CHANGES)(draw, fields, index)


def _joined(fields: Sequence[wire.Field]) -> bytes:
    return b"".join(field.raw for field in fields)


def _changed_bytes(draw: Draw, data: bytes) -> bytes:
    """Without any knowledge of what the bytes are."""
    place, end = draw.below(len(data) + 1), draw.below(len(data) + 1)
    start, stop = sorted((place, end))
    match draw.below(5):
        case 0 if data:
            place %= len(data)
            return data[:place] + bytes([data[place] ^ 1 << draw.below(8)]) + data[place + 1 :]
        case 1:
            return data[:place] + draw.raw(1 + draw.below(_MOST_INSERTED)) + data[place:]
        case 2:
            return data[:start] + data[stop:]
        case 3:
            return data[:stop] + data[start:stop] + data[stop:]
        case _:
            return data[:place]


def _with_another(draw: Draw, data: bytes) -> bytes:
    """A field that may be known or not, before or behind."""
    number = draw.one((1, 2, 3, 4, 5, 11, 15, 16, 25, 26, 31, 60, 2**29 - 1))
    value: bytes | int = draw.one(_NUMBERS) if draw.below(2) else draw.one(_TEXTS)
    added = wire.field(number, value)
    return data + added if draw.below(2) else added + data


_FieldChange = Callable[[Draw, list[wire.Field], int], bytes]


def _dropped(_: Draw, fields: list[wire.Field], index: int) -> bytes:
    return _joined(fields[:index] + fields[index + 1 :])


def _twice(_: Draw, fields: list[wire.Field], index: int) -> bytes:
    return _joined([*fields[: index + 1], *fields[index:]])


def _moved(draw: Draw, fields: list[wire.Field], index: int) -> bytes:
    rest = fields[:index] + fields[index + 1 :]
    rest.insert(draw.below(len(fields)), fields[index])
    return _joined(rest)


def _long_tag(draw: Draw, fields: list[wire.Field], index: int) -> bytes:
    number, wire_type, raw = fields[index]
    usual = len(wire.tag(number, wire_type))
    return _replaced(fields, index, wire.tag(number, wire_type, size=usual + 1 + draw.below(5)) + raw[usual:])


def _long_value(draw: Draw, fields: list[wire.Field], index: int) -> bytes:
    """A number, or a length, with empty digits behind."""
    number, wire_type, raw = fields[index]
    rest = raw[len(wire.tag(number, wire_type)) :]
    last = next(place for place, digit in enumerate(rest) if digit < 0x80)  # noqa: PLR2004 - no digit follows
    filled = bytes([*rest[:last], rest[last] | 0x80]) + b"\x80" * draw.below(6) + b"\x00" + rest[last + 1 :]
    return _replaced(fields, index, wire.tag(number, wire_type) + filled)


def _other_type(draw: Draw, fields: list[wire.Field], index: int) -> bytes:
    number, wire_type, raw = fields[index]
    rest = raw[len(wire.tag(number, wire_type)) :]
    return _replaced(fields, index, wire.tag(number, draw.one(_UNUSUAL_WIRE_TYPES)) + rest)


def _other_number(draw: Draw, fields: list[wire.Field], index: int) -> bytes:
    number, wire_type, raw = fields[index]
    rest = raw[len(wire.tag(number, wire_type)) :]
    return _replaced(fields, index, wire.tag(1 + draw.below(32), wire_type) + rest)


def _other_value(draw: Draw, fields: list[wire.Field], index: int) -> bytes:
    number, wire_type, _ = fields[index]
    value: bytes | int = draw.one(_NUMBERS) if wire_type == wire.VARINT else draw.one(_TEXTS)
    return _replaced(fields, index, wire.field(number, value))


def _split(draw: Draw, fields: list[wire.Field], index: int) -> bytes:
    """A value in two parts, which parsers join where it is a message."""
    number, wire_type, raw = fields[index]
    if wire_type != wire.BYTES:
        return _replaced(fields, index, raw + raw)
    value = wire.value_of(fields[index])
    cut = draw.below(len(value) + 1)
    return _replaced(fields, index, wire.field(number, value[:cut]) + wire.field(number, value[cut:]))


def _replaced(fields: list[wire.Field], index: int, raw: bytes) -> bytes:
    return _joined(fields[:index]) + raw + _joined(fields[index + 1 :])


_FIELD_CHANGES: Final[tuple[_FieldChange, ...]] = (
    _dropped,
    _twice,
    _moved,
    _long_tag,
    _long_value,
    _other_type,
    _other_number,
    _other_value,
    _other_value,
    _split,
)
