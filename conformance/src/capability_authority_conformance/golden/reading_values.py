"""What the fields of particular payloads can hold, and how else it could be written, for `reading.json`."""

from collections.abc import Iterator
from typing import Final

from capability_authority_conformance.golden import wire
from capability_authority_conformance.golden.form import Group, Test
from capability_authority_conformance.golden.reading_enums import (
    DECISIONS,
    PROPOSALS,
    RECEIPTS,
    REVOCATIONS,
    VALIDATIONS,
)
from capability_authority_conformance.golden.reading_tests import either
from capability_authority_conformance.golden.samples import SAMPLES

__all__ = ["groups_of_values"]

_TWO_TO_31: Final = 2**31
_TWO_TO_32: Final = 2**32
_TWO_TO_64: Final = 2**64
_LAST_SECOND: Final = 253_402_300_799
_FIRST_SECOND: Final = -62_135_596_800


def groups_of_values() -> Iterator[Group]:
    """All of them."""
    capability, grant = SAMPLES["commit-capability"].payload_type, SAMPLES["grant"].payload_type
    yield Group(
        "Texts and numbers of a commit capability", list(_capabilities(capability)), {"payload_type": capability}
    )
    yield Group("Dimensions of a grant", list(_grants(grant)), {"payload_type": grant})
    yield Group("Instants of a commit capability", list(_instants(capability)), {"payload_type": capability})
    for name, cases in (
        ("validation-receipt", VALIDATIONS),
        ("decision-receipt", DECISIONS),
        ("proposal-revision", PROPOSALS),
        ("revocation", REVOCATIONS),
        ("commit-receipt", RECEIPTS),
    ):
        payload_type = SAMPLES[name].payload_type
        yield Group(
            f"Values of a {name.replace('-', ' ')}",
            [
                either(f"{name}-{what}", comment, flag, payload_type, data, why)
                for what, comment, flag, data, why in cases
            ],
            {"payload_type": payload_type},
        )


def _capabilities(payload_type: str) -> Iterator[Test]:
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


def _grants(payload_type: str) -> Iterator[Test]:
    """`actions` are GrantedNames 9, `usd_micros` a GrantedAmount 16, `network` a GrantedFlag 21."""
    flag_tag, most_tag = wire.tag(1, wire.VARINT), wire.tag(1, wire.VARINT)
    for what, comment, flag, data, why in (
        ("actions-empty", "a list of none, which denies", "Presence", wire.field(9, b""), None),
        ("action-empty", "one of no letters", "Presence", wire.field(9, wire.field(1, b"")), None),
        ("amount-empty", "0, and present", "Presence", wire.field(16, b""), None),
        ("amount-zero", "0 written out", "SecondEncoding", wire.field(16, wire.field(1, 0)), "not_deterministic"),
        ("amount-largest", "2^63-1", "EdgeOfValues", wire.field(16, wire.field(1, 2**63 - 1)), None),
        (
            "amount-smallest",
            "-2^63; whether a grant can say it is another question",
            "EdgeOfValues",
            wire.field(16, wire.field(1, 2**63)),
            None,
        ),
        (
            "amount-beyond",
            "65 bits",
            "SecondEncoding",
            wire.field(16, most_tag + b"\x80" * 9 + b"\x02"),
            "not_deterministic",
        ),
        (
            "amount-twice",
            "one inside the other's message",
            "SecondEncoding",
            wire.field(16, wire.field(1, 1) * 2),
            "not_deterministic",
        ),
        (
            "amounts-merged",
            "two messages for one",
            "SecondEncoding",
            wire.field(16, wire.field(1, 1)) * 2,
            "not_deterministic",
        ),
        ("flag", "true", "EdgeOfValues", wire.field(21, wire.field(1, 1)), None),
        ("flag-empty", "false, and present", "Presence", wire.field(21, b""), None),
        ("flag-false", "false written out", "SecondEncoding", wire.field(21, wire.field(1, 0)), "not_deterministic"),
        (
            "flag-two",
            "2, which parsers read as true",
            "SecondEncoding",
            wire.field(21, wire.field(1, 2)),
            "not_deterministic",
        ),
        (
            "flag-long",
            "true in two bytes",
            "SecondEncoding",
            wire.field(21, flag_tag + wire.varint(1, size=2)),
            "not_deterministic",
        ),
        (
            "flag-high-bit",
            "only bit 32 is set",
            "SecondEncoding",
            wire.field(21, wire.field(1, _TWO_TO_32)),
            "not_deterministic",
        ),
        ("flag-unknown", "a field behind the flag", "UnknownField", wire.field(21, wire.field(2, 1)), "unknown_field"),
    ):
        yield either(f"grant-{what}", comment, flag, payload_type, data, why)


def _instants(payload_type: str) -> Iterator[Test]:
    """`expire_time` is field 24; `seconds` an int64 1 and `nanos` an int32 2 in it."""
    for what, comment, flag, seconds, nanos, why in (
        ("epoch", "1970, and present", "Presence", 0, 0, None),
        ("millisecond", "one", "EdgeOfValues", 0, 1_000_000, None),
        ("first", "0001-01-01T00:00:00.000Z", "EdgeOfValues", _FIRST_SECOND, 0, None),
        ("last", "9999-12-31T23:59:59.999Z", "EdgeOfValues", _LAST_SECOND, 999_000_000, None),
        ("before-1970", "the last millisecond before it", "EdgeOfValues", -1, 999_000_000, None),
        ("before-the-first", "a second before the year 1", "Instant", _FIRST_SECOND - 1, 0, "instant_out_of_range"),
        (
            "millisecond-before-the-first",
            "a millisecond before",
            "Instant",
            _FIRST_SECOND - 1,
            999_000_000,
            "instant_out_of_range",
        ),
        ("after-the-last", "the year 10000", "Instant", _LAST_SECOND + 1, 0, "instant_out_of_range"),
        ("largest", "seconds = 2^63-1", "Instant", 2**63 - 1, 0, "instant_out_of_range"),
        ("smallest", "seconds = -2^63", "Instant", -(2**63), 0, "instant_out_of_range"),
        ("nanosecond", "finer than a millisecond", "Instant", 0, 1, "instant_out_of_range"),
        ("half-a-millisecond", "finer than a millisecond", "Instant", 0, 500_000, "instant_out_of_range"),
        ("microsecond", "finer than a millisecond", "Instant", 0, 1_000, "instant_out_of_range"),
        ("second-in-nanos", "nanos = 10^9", "Instant", 0, 1_000_000_000, "instant_out_of_range"),
        ("negative-nanos", "nanos = -10^6", "Instant", 1, -1_000_000, "instant_out_of_range"),
    ):
        data = wire.field(24, _instant(seconds, nanos))
        yield either(f"instant-{what}", comment, flag, payload_type, data, why)
    for what, comment, flag, inner, why in (
        ("unknown-field", "a field 3", "UnknownField", wire.field(3, 1), "unknown_field"),
        (
            "turned",
            "nanos before seconds",
            "SecondEncoding",
            wire.field(2, 1_000_000) + wire.field(1, 1),
            "not_deterministic",
        ),
        ("zero-seconds", "0 written out", "SecondEncoding", wire.field(1, 0), "not_deterministic"),
        (
            "nanos-beyond-32-bits",
            "2^32+10^6, which parsers cut",
            "SecondEncoding",
            wire.field(2, _TWO_TO_32 + 1_000_000),
            "not_deterministic",
        ),
    ):
        yield either(f"instant-{what}", comment, flag, payload_type, wire.field(24, inner), why)


def _instant(seconds: int, nanos: int) -> bytes:
    return b"".join(wire.field(number, value % _TWO_TO_64) for number, value in ((1, seconds), (2, nanos)) if value)
