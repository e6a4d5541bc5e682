"""Texts, numbers, bytes and messages of a commit capability, for `reading.json`."""

from collections.abc import Iterator
from typing import Final

from capability_authority_conformance.golden import wire
from capability_authority_conformance.golden.form import Test
from capability_authority_conformance.golden.reading_tests import either

__all__ = ["capabilities"]

_TWO_TO_31: Final = 2**31
_TWO_TO_32: Final = 2**32
_TWO_TO_64: Final = 2**64


def capabilities(payload_type: str) -> Iterator[Test]:
    """Of text 1, the message `tenant` 4, the int32 11, repeated bytes 15 and the uint32 `max_uses` 25."""
    name, uses, revision = wire.tag(1, wire.BYTES), wire.tag(25, wire.VARINT), wire.tag(11, wire.VARINT)
    for what, comment, flag, data, why in (
        ("text", "one letter", "EdgeOfValues", wire.field(1, b"a"), None),
        ("text-nul", "NUL is text", "EdgeOfValues", wire.field(1, b"\0"), None),
        ("text-astral", "U+1F600 in four bytes", "EdgeOfValues", wire.field(1, "\U0001f600".encode()), None),
        ("text-noncharacter", "U+FFFF is text", "EdgeOfValues", wire.field(1, b"\xef\xbf\xbf"), None),
        ("text-byte-order-mark", "kept, never swallowed", "EdgeOfValues", wire.field(1, b"\xef\xbb\xbfa"), None),
        ("text-empty", "empty text written out", "SecondEncoding", wire.field(1, b""), "not_deterministic"),
        (
            "text-twice",
            "the last wins",
            "SecondEncoding",
            wire.field(1, b"b") + wire.field(1, b"a"),
            "not_deterministic",
        ),
        (
            "text-long-length",
            "the length in two bytes",
            "SecondEncoding",
            name + wire.varint(1, size=2) + b"a",
            "not_deterministic",
        ),
        (
            "text-length-in-ten-bytes",
            "the length in ten bytes",
            "NotParsable",
            name + wire.varint(1, size=10) + b"a",
            "not_parsable",
        ),
        ("text-not-utf-8", "a byte that begins nothing", "NotParsable", wire.field(1, b"\xff"), "not_parsable"),
        ("text-half", "half of a character", "NotParsable", wire.field(1, b"\xc3"), "not_parsable"),
        ("text-overlong", "/ in two bytes", "NotParsable", wire.field(1, b"\xc0\xaf"), "not_parsable"),
        ("text-surrogate", "an encoded surrogate", "NotParsable", wire.field(1, b"\xed\xa0\x80"), "not_parsable"),
        (
            "text-pair",
            "an encoded surrogate pair",
            "NotParsable",
            wire.field(1, b"\xed\xa0\xbd\xed\xb8\x80"),
            "not_parsable",
        ),
        ("text-beyond-unicode", "U+110000", "NotParsable", wire.field(1, b"\xf4\x90\x80\x80"), "not_parsable"),
        ("text-longer-than-all", "a length that leads outside", "NotParsable", name + b"\x02a", "not_parsable"),
        ("text-length-2-31", "a length of 2^31", "NotParsable", name + wire.varint(_TWO_TO_31) + b"a", "not_parsable"),
        (
            "text-length-negative",
            "a length of -1",
            "NotParsable",
            name + wire.varint(_TWO_TO_64 - 1) + b"a",
            "not_parsable",
        ),
        (
            "text-length-endless",
            "a length of eleven bytes",
            "NotParsable",
            name + b"\x81" + b"\x80" * 9 + b"\0a",
            "not_parsable",
        ),
        ("tag-alone", "a tag and nothing behind", "NotParsable", name, "not_parsable"),
        ("tag-zero", "field 0", "NotParsable", b"\x00\x01", "not_parsable"),
        ("tag-wire-type-6", "there is none", "NotParsable", wire.tag(1, 6) + b"\x01a", "not_parsable"),
        ("tag-wire-type-7", "there is none", "NotParsable", wire.tag(1, 7) + b"\x01a", "not_parsable"),
        (
            "tag-beyond-29-bits",
            "field 2^29, which cut to 29 bits is none",
            "NotParsable",
            wire.varint(2**32 | 10) + b"\x01a",
            "not_parsable",
        ),
        (
            "tag-in-ten-bytes",
            "field 1 with empty digits",
            "SecondEncoding",
            wire.tag(1, wire.BYTES, size=5) + b"\x01a",
            "not_deterministic",
        ),
        (
            "group",
            "field 1 as a group",
            "UnknownField",
            wire.tag(1, wire.START_GROUP) + wire.tag(1, wire.END_GROUP),
            "unknown_field",
        ),
        ("group-never-ended", "a group without end", "NotParsable", wire.tag(60, wire.START_GROUP), "not_parsable"),
        ("group-never-begun", "an end without group", "NotParsable", wire.tag(60, wire.END_GROUP), "not_parsable"),
        ("fixed-64", "field 1 as eight bytes", "UnknownField", wire.tag(1, wire.FIXED64) + bytes(8), "unknown_field"),
        ("number-for-text", "field 1 as a number", "UnknownField", wire.field(1, 1), "unknown_field"),
        ("text-for-number", "max_uses as text", "UnknownField", wire.field(25, b"1"), "unknown_field"),
        (
            "packed-number",
            "max_uses as packed numbers, which it never is",
            "UnknownField",
            wire.field(25, wire.varint(1)),
            "unknown_field",
        ),
        (
            "tag-i14",
            "field 14, a text, twice as a number behind field 8 (I14)",
            "UnknownField",
            bytes.fromhex("080470017001"),
            "unknown_field",
        ),
        ("uses", "max_uses = 2^32-1", "EdgeOfValues", wire.field(25, _TWO_TO_32 - 1), None),
        ("uses-zero", "a default written out", "SecondEncoding", wire.field(25, 0), "not_deterministic"),
        ("uses-long", "1 in two bytes", "SecondEncoding", uses + wire.varint(1, size=2), "not_deterministic"),
        ("uses-ten-bytes", "1 in ten bytes", "SecondEncoding", uses + wire.varint(1, size=10), "not_deterministic"),
        (
            "uses-2-32",
            "2^32, which parsers cut to 0",
            "SecondEncoding",
            wire.field(25, _TWO_TO_32),
            "not_deterministic",
        ),
        (
            "uses-2-32-and-1",
            "2^32+1, which parsers cut to 1",
            "SecondEncoding",
            wire.field(25, _TWO_TO_32 + 1),
            "not_deterministic",
        ),
        (
            "uses-eleven-bytes",
            "a number of eleven bytes",
            "NotParsable",
            uses + b"\x81" + b"\x80" * 9 + b"\0",
            "not_parsable",
        ),
        ("uses-cut-off", "a number that does not end", "NotParsable", uses + b"\x81", "not_parsable"),
        ("revision", "2^31-1", "EdgeOfValues", wire.field(11, _TWO_TO_31 - 1), None),
        (
            "revision-negative",
            "-1 in ten bytes, as it is written",
            "EdgeOfValues",
            wire.field(11, _TWO_TO_64 - 1),
            None,
        ),
        (
            "revision-negative-short",
            "-1 in five bytes",
            "SecondEncoding",
            wire.field(11, _TWO_TO_32 - 1),
            "not_deterministic",
        ),
        (
            "revision-2-31",
            "2^31, which parsers read as -2^31",
            "SecondEncoding",
            wire.field(11, _TWO_TO_31),
            "not_deterministic",
        ),
        (
            "revision-beyond-64-bits",
            "ten bytes that hold 70 bits",
            "SecondEncoding",
            revision + b"\xff" * 9 + b"\x7f",
            "not_deterministic",
        ),
        ("digests-repeated", "bytes twice are two", "EdgeOfValues", wire.field(15, b"a") * 2, None),
        ("digest-empty", "an item of no bytes is an item", "Presence", wire.field(15, b""), None),
        (
            "digests-apart",
            "another field between two of them",
            "SecondEncoding",
            wire.field(15, b"a") + wire.field(16, b"p") + wire.field(15, b"b"),
            "not_deterministic",
        ),
        ("tenant-empty", "present and empty", "Presence", wire.field(4, b""), None),
        (
            "tenant-in-two",
            "merged by parsers",
            "SecondEncoding",
            wire.field(4, wire.field(1, b"n")) + wire.field(4, wire.field(2, b"i")),
            "not_deterministic",
        ),
        (
            "tenant-turned",
            "its fields in another order",
            "SecondEncoding",
            wire.field(4, wire.field(2, b"i") + wire.field(1, b"n")),
            "not_deterministic",
        ),
        (
            "tenant-default",
            "an empty text written out inside",
            "SecondEncoding",
            wire.field(4, wire.field(1, b"")),
            "not_deterministic",
        ),
        (
            "tenant-unknown",
            "a field that it does not have",
            "UnknownField",
            wire.field(4, wire.field(3, b"x")),
            "unknown_field",
        ),
        (
            "tenant-cut-off",
            "a length that leads outside the tenant",
            "NotParsable",
            wire.field(4, b"\x0a\x02a"),
            "not_parsable",
        ),
    ):
        yield either(f"capability-{what}", comment, flag, payload_type, data, why)
