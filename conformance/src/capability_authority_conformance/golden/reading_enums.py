"""Enums, lists and nested messages of payloads, for `reading.json`: id, comment, flag, bytes and reason of each."""

from typing import Final

from capability_authority_conformance.golden import wire

__all__ = ["DECISIONS", "PROPOSALS", "RECEIPTS", "REVOCATIONS", "VALIDATIONS"]

VALIDATIONS: Final = (
    ("outcome", "the last that there is", "EdgeOfValues", wire.field(11, 3), None),
    ("outcome-beyond", "the next after the last", "UnknownEnumValue", wire.field(11, 4), "unknown_enum_value"),
    ("outcome-negative", "-1", "UnknownEnumValue", wire.field(11, 2**64 - 1), "unknown_enum_value"),
    ("outcome-largest", "2^31-1", "UnknownEnumValue", wire.field(11, 2**31 - 1), "unknown_enum_value"),
    ("outcome-zero", "unspecified written out", "SecondEncoding", wire.field(11, 0), "not_deterministic"),
    (
        "outcome-cut",
        "2^32+1, which parsers cut to 1",
        "SecondEncoding",
        wire.field(11, 2**32 + 1),
        "not_deterministic",
    ),
    (
        "outcome-twice",
        "an unknown one before a known",
        "SecondEncoding",
        wire.field(11, 4) + wire.field(11, 1),
        "not_deterministic",
    ),
    (
        "finding-beyond",
        "an unknown outcome in a finding",
        "UnknownEnumValue",
        wire.field(10, wire.field(3, 99)),
        "unknown_enum_value",
    ),
    (
        "finding-second",
        "only in the second finding",
        "UnknownEnumValue",
        wire.field(10, b"") + wire.field(10, wire.field(3, 4)),
        "unknown_enum_value",
    ),
    ("findings-empty", "two findings that say nothing are two", "Presence", wire.field(10, b"") * 2, None),
)
DECISIONS: Final = (
    ("sequence", "beyond 2^53, exactly", "EdgeOfValues", wire.field(15, 2**53 + 1), None),
    ("sequence-largest", "2^63-1", "EdgeOfValues", wire.field(15, 2**63 - 1), None),
    ("outcome-beyond", "the next after the last", "UnknownEnumValue", wire.field(13, 4), "unknown_enum_value"),
    (
        "texts-turned",
        "an approval behind a later field",
        "SecondEncoding",
        wire.field(12, b"p") + wire.field(11, b"a"),
        "not_deterministic",
    ),
)
PROPOSALS: Final = (
    (
        "kind-beyond",
        "a kind of principal that there is not",
        "UnknownEnumValue",
        wire.field(6, 9),
        "unknown_enum_value",
    ),
    ("provenance-beyond", "a provenance that there is not", "UnknownEnumValue", wire.field(8, 6), "unknown_enum_value"),
    (
        "memory-type-beyond",
        "a memory type that there is not",
        "UnknownEnumValue",
        wire.field(9, 6),
        "unknown_enum_value",
    ),
    (
        "visibility-beyond",
        "a visibility that there is not",
        "UnknownEnumValue",
        wire.field(16, 5),
        "unknown_enum_value",
    ),
    ("cost-negative", "input_tokens = -1", "EdgeOfValues", wire.field(21, wire.field(3, 2**64 - 1)), None),
    ("subject-behind", "field 26 after field 25", "EdgeOfValues", wire.field(25, b"") + wire.field(26, b""), None),
    (
        "subject-before",
        "field 26 before field 25",
        "SecondEncoding",
        wire.field(26, b"") + wire.field(25, b""),
        "not_deterministic",
    ),
    ("field-27", "a field that a later version might have", "UnknownField", wire.field(27, b""), "unknown_field"),
)
REVOCATIONS: Final = (
    ("kind", "the last that there is", "EdgeOfValues", wire.field(5, 7), None),
    ("kind-beyond", "the next after the last", "UnknownEnumValue", wire.field(5, 8), "unknown_enum_value"),
)
RECEIPTS: Final = (
    ("capability-empty", "a receipt of a capability that says nothing", "Presence", wire.field(4, b""), None),
    (
        "capability-unknown",
        "a field that its capability does not have",
        "UnknownField",
        wire.field(4, wire.field(28, 1)),
        "unknown_field",
    ),
    (
        "instant-below",
        "an instant out of range inside its capability",
        "Instant",
        wire.field(4, wire.field(23, wire.field(2, 1))),
        "instant_out_of_range",
    ),
    (
        "second-encoding-below",
        "a long number inside its capability",
        "SecondEncoding",
        wire.field(4, wire.tag(25, wire.VARINT) + wire.varint(1, size=2)),
        "not_deterministic",
    ),
)
