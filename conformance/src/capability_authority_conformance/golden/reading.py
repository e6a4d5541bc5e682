"""`reading.json`: payload bytes, and whether they have exactly one reading (semantics §3)."""

from collections.abc import Iterator
from typing import Final

from capability_authority_conformance.golden import wire
from capability_authority_conformance.golden.form import Flag, Group, VectorFile
from capability_authority_conformance.golden.reading_tests import read, refused
from capability_authority_conformance.golden.reading_values import groups_of_values
from capability_authority_conformance.golden.samples import SAMPLES

__all__ = ["reading"]

_FLAGS: Final = (
    Flag("EveryKind", "BASIC", "A payload of each kind, and the empty one.", "Nothing can be read."),
    Flag("EdgeOfValues", "EDGE_CASE", "Values at the end of what a field holds.", "Some statements are refused."),
    Flag(
        "Presence",
        "EDGE_CASE",
        "A message that is present and empty is not absent: an empty list denies what an absent one leaves open.",
        "Absent and empty become one, and so do two grants.",
    ),
    Flag(
        "UnknownField",
        "AMBIGUITY",
        "A field that the kind does not have, at any depth, or one with another wire type (I14).",
        "What one reader skips another obeys.",
    ),
    Flag(
        "SecondEncoding",
        "AMBIGUITY",
        "Bytes that say what shorter or other bytes say: long numbers, other orders, defaults written out (D13, E11).",
        "One message has many digests, and two readers see different messages.",
    ),
    Flag(
        "NotParsable",
        "AMBIGUITY",
        "Bytes that are no message: cut off, lengths that lead outside, text that is not UTF-8.",
        "A lenient reader guesses what was meant.",
    ),
    Flag(
        "UnknownEnumValue",
        "AMBIGUITY",
        "A number that names nothing in this version, which open enums keep without a word.",
        "A later version's value is taken for nothing in particular.",
    ),
    Flag(
        "Instant",
        "OUT_OF_RANGE",
        "An instant finer than a millisecond, or outside the years 1 to 9999.",
        "Two languages hold different times, or fail.",
    ),
)


def reading() -> VectorFile:
    """The file."""
    samples = [name for name in SAMPLES if name != "derived-grant"]
    return VectorFile(
        "reading",
        "Payloads of the group's type, to be read by the reading rule: by exactly one reading, or not at all.",
        _FLAGS,
        (
            *(_of_kind(name) for name in samples),
            *groups_of_values(),
        ),
    )


def _of_kind(name: str) -> Group:
    """What can be done to the bytes of any kind."""
    sample = SAMPLES[name]
    return Group(
        f"A {name.replace('-', ' ')}",
        [
            read(name, "the payload of this name in statements.json", "EveryKind", sample.payload_type, sample.payload),
            read(f"{name}-empty", "no bytes: every field absent", "EveryKind", sample.payload_type, b""),
            *(
                refused(f"{name}-{what}", comment, flag, data, why)
                for what, comment, flag, data, why in _broken(sample.payload)
            ),
        ],
        {"payload_type": sample.payload_type},
    )


def _broken(payload: bytes) -> Iterator[tuple[str, str, str, bytes, str]]:
    """Id, comment, flag, bytes and reason, made of the first two fields of a payload."""
    first, second = wire.fields_of(payload)[:2]
    two = first.raw + second.raw
    yield (
        "reordered",
        "the second field before the first",
        "SecondEncoding",
        second.raw + first.raw,
        "not_deterministic",
    )
    yield "twice", "the first field twice", "SecondEncoding", first.raw + two, "not_deterministic"
    yield "long-tag", "the first tag in two bytes", "SecondEncoding", _long_tag(first) + second.raw, "not_deterministic"
    yield "cut-off", "the last byte is missing", "NotParsable", two[:-1], "not_parsable"
    yield "unknown-behind", "a field 536870911 behind", "UnknownField", two + wire.field(2**29 - 1, 1), "unknown_field"
    yield (
        "other-wire-type",
        "the first field as a fixed number",
        "UnknownField",
        _fixed(first) + second.raw,
        "unknown_field",
    )


def _long_tag(field: wire.Field) -> bytes:
    usual = wire.tag(field.number, field.wire_type)
    return wire.tag(field.number, field.wire_type, size=len(usual) + 1) + field.raw[len(usual) :]


def _fixed(field: wire.Field) -> bytes:
    return wire.tag(field.number, wire.FIXED32) + b"\1\0\0\0"
