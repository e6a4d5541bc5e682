"""Bytes that are almost payloads, or almost JSON: the same ones for a seed, so that two languages can be compared."""

import json
import random
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from tests.vectors.vector_runs import golden, vectors

VARINT, FIXED64, DELIMITED, START_GROUP, END_GROUP, FIXED32 = range(6)

_NUMBERS: Final = (0, 1, 2, 3, 7, 127, 128, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1)
_TEXTS: Final = (
    b"",
    b"\x00",
    b"a",
    b"\xef\xbb\xbf",
    b"\xef\xbb\xbfa",
    b"a\xef\xbb\xbf",
    "é😀\uffff".encode(),
    b"\xff",
    b"\xed\xa0\x80",
    b"\xc0\x80",
    b"\xf4\x90\x80\x80",
)


class Question(NamedTuple):
    """What a judge is asked: a payload type or another kind, and bytes."""

    kind: str
    data: bytes

    def line(self) -> str:
        """One line, as judges read it."""
        return json.dumps({"kind": self.kind, "data": self.data.hex()}) + "\n"


class Field(NamedTuple):
    """A field as it stands on the wire: `value` is a number, bytes, or the fields of what looks like a message."""

    number: int
    wire_type: int
    value: "int | bytes | list[Field]"


Random: TypeAlias = random.Random


def mutated_payloads(seed: int, count: int) -> Iterator[Question]:
    """Payloads of every kind, most of them changed: as fields, so that lengths fit, as bytes, or both."""
    rng = random.Random(seed)  # noqa: S311 - nothing secret: the same for everyone
    kinds = sorted({vector.group["payload_type"] for vector in vectors("reading")})
    good = {kind: _good(kind) for kind in kinds}
    for _ in range(count):
        kind = rng.choice(kinds)
        yield Question(kind, _mutated(rng.choice(good[kind]), rng))


def mutated_statements(seed: int, count: int) -> Iterator[Question]:
    """Statements, most of them changed."""
    rng = random.Random(seed)  # noqa: S311
    good = [bytes.fromhex(it.test["statement"]) for it in vectors("statements") if it.test["result"] == "valid"]
    for _ in range(count):
        yield Question("statement", _mutated(rng.choice(good), rng))


def mutated_documents(seed: int, count: int) -> Iterator[Question]:
    """JSON texts, to be read as such and as content; DSSE envelopes, and signed envelopes of upstream."""
    rng = random.Random(seed)  # noqa: S311
    documents = [bytes.fromhex(it.test["document"]) for it in vectors("canonical_json")]
    contents = [bytes.fromhex(it.test["content"]) for it in vectors("content")]
    dsse = [it.test["envelope"].encode("utf-8", "surrogatepass") for it in vectors("dsse_json")]
    signed = [json.dumps(case["signed"]).encode() for case in golden("cognitum-action-v1/envelopes")["cases"]]
    sources = {"json": documents + contents, "content": contents + documents, "dsse_json": dsse, "envelope": signed}
    for _ in range(count):
        kind = rng.choice(list(sources))
        data = rng.choice(sources[kind])
        for _ in range(rng.randrange(4)):
            data = rng.choice(_TEXT_CHANGES)(data, rng)
        yield Question(kind, data)


def _good(kind: str) -> list[bytes]:
    found = [it for it in vectors("reading") if it.group["payload_type"] == kind and it.test["result"] == "valid"]
    return [bytes.fromhex(it.test["payload"]) for it in found]


def _mutated(data: bytes, rng: Random) -> bytes:
    if rng.random() < 0.75:
        fields = _fields(data)
        for _ in range(rng.randrange(4)):
            _change_fields(fields, rng)
        data = _written(fields, rng, overlong=rng.random() < 0.1)
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        data = rng.choice(_BYTE_CHANGES)(data, rng)
    return data


def _fields(data: bytes) -> list[Field]:
    """The fields of well-formed bytes; whatever is not is one that nothing is known of."""
    found: list[Field] = []
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == VARINT:
            value, at = _varint(data, at)
            found.append(Field(number, wire_type, value))
        elif wire_type == DELIMITED:
            length, at = _varint(data, at)
            if at + length > len(data):
                raise ValueError("cut off")
            found.append(Field(number, wire_type, _inner(data[at : at + length])))
            at += length
        else:
            raise ValueError("no wire type of payloads")
    return found


def _inner(data: bytes) -> bytes | list[Field]:
    """The fields, where the bytes could be a message."""
    try:
        fields = _fields(data)
    except (ValueError, IndexError):
        return data
    return fields if fields and all(0 < field.number < 64 for field in fields) else data


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _change_fields(fields: list[Field], rng: Random) -> None:
    """One change, here or further in."""
    nested = [field.value for field in fields if isinstance(field.value, list)]
    if nested and rng.random() < 0.5:
        _change_fields(rng.choice(nested), rng)
        return
    at = rng.randrange(len(fields)) if fields else 0
    match rng.randrange(7) if fields else 0:
        case 0:
            fields.insert(rng.randrange(len(fields) + 1), _any_field(rng))
        case 1:
            del fields[at]
        case 2:
            fields.insert(rng.randrange(len(fields) + 1), fields[at])
        case 3:
            fields.insert(rng.randrange(len(fields)), fields.pop(at))
        case 4:
            fields[at] = fields[at]._replace(value=_any_value(fields[at].wire_type, rng))
        case 5:
            fields[at] = fields[at]._replace(number=rng.randrange(1, 34))
        case _:
            fields.sort(key=lambda field: field.number)


def _any_field(rng: Random) -> Field:
    wire_type = rng.choice((VARINT, VARINT, DELIMITED, DELIMITED, FIXED32, FIXED64, START_GROUP))
    number = rng.choice((rng.randrange(1, 34), rng.randrange(1, 34), 1_000, 2**29 - 1))
    return Field(number, wire_type, _any_value(wire_type, rng))


def _any_value(wire_type: int, rng: Random) -> int | bytes | list[Field]:
    match wire_type:
        case 0:
            return rng.choice(_NUMBERS)
        case 1:
            return rng.randbytes(8)
        case 5:
            return rng.randbytes(4)
        case 3:
            return [_any_field(rng)] if rng.random() < 0.5 else []
        case _:
            return rng.choice(_TEXTS) if rng.random() < 0.8 else rng.randbytes(32)


def _written(fields: list[Field], rng: Random, *, overlong: bool) -> bytes:
    parts: list[bytes] = []
    for field in fields:
        parts.append(_encoded(field.number << 3 | field.wire_type, rng, overlong=overlong))
        value = _written(field.value, rng, overlong=overlong) if isinstance(field.value, list) else field.value
        if isinstance(value, int):
            parts.append(_encoded(value, rng, overlong=overlong))
        elif field.wire_type == DELIMITED:
            parts += [_encoded(len(value), rng, overlong=overlong), value]
        elif field.wire_type == START_GROUP:
            parts += [value, _encoded(field.number << 3 | END_GROUP, rng, overlong=False)]
        else:
            parts.append(value)
    return b"".join(parts)


def _encoded(value: int, rng: Random, *, overlong: bool) -> bytes:
    """A varint, now and then in more bytes than it needs."""
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    if overlong and rng.random() < 0.1:
        more = rng.randrange(1, 11)
        parts[-1] |= 0x80
        parts += b"\x80" * (more - 1) + rng.choice((b"\x00", b"\x00", b"\x01", b"\x7f"))
    return bytes(parts)


def _place(data: bytes, rng: Random) -> int:
    return rng.randrange(len(data)) if data else 0


def _flip(data: bytes, rng: Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + bytes(byte ^ 1 << rng.randrange(8) for byte in data[at : at + 1]) + data[at + 1 :]


def _drop(data: bytes, rng: Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + data[at + 1 :]


def _insert(data: bytes, rng: Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + rng.randbytes(1) + data[at:]


def _cut(data: bytes, rng: Random) -> bytes:
    return data[: _place(data, rng)]


def _repeat(data: bytes, rng: Random) -> bytes:
    at = _place(data, rng)
    end = at + rng.randrange(1, 16)
    return data[:end] + data[at:]


_TOKENS: Final = (
    *(
        b'"',
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b",",
        b" ",
        b"\n",
        b"-",
        b".",
        b"e",
        b"E9",
        b"0",
        b"1",
        b"null",
        b"true",
    ),
    *(b"false", b"NaN", b"Infinity", b"-Infinity", b"1e999", b"1e-999", b"1e20", b"1e21", b"9007199254740991", b"-0"),
    *(b"9007199254740992", b"9007199254740993", b"99999999999999999999", b"0.1", b"5e-324", b"1.7976931348623157e308"),
    *(
        b"\\u0000",
        b"\\ud800",
        b"\\udc00",
        b"\\ud83d\\ude00",
        b"\\u000A",
        b"\\/",
        b'"a":1,',
        b'"a":1',
        b'"__proto__":1,',
    ),
    *(b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\x00", b"\xff", b"\xed\xa0\x80", "é".encode(), "😀".encode(), b"[" * 32),
    *(b'"namespace":"workload",', b'"extra":null,', b"2026-02-30T12:00:00.000Z", b"null,", b"_", b"=", b"+", b"7"),
)


def _token(data: bytes, rng: Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + rng.choice(_TOKENS) + data[at + rng.randrange(3) :]


_BYTE_CHANGES: Final[tuple[Callable[[bytes, Random], bytes], ...]] = (_flip, _drop, _insert, _cut, _repeat)
_TEXT_CHANGES: Final[tuple[Callable[[bytes, Random], bytes], ...]] = (
    *(_token, _token, _token),
    *(_flip, _drop, _repeat),
)
