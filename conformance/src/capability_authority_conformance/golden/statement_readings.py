"""Well signed payloads that break the reading rule, for `statements.json` (cases D13, E11, I14)."""

from collections.abc import Iterator
from typing import Final

from capability_authority.offline import encode, payload_type_of
from capability_authority.v1.statements_pb2 import CommitCapability, Signature, SignedStatement, ValidationReceipt
from capability_authority_conformance.golden import wire
from capability_authority_conformance.golden.form import Group, Test
from capability_authority_conformance.golden.published_keys import published_key
from capability_authority_conformance.golden.samples import ISSUER
from capability_authority_conformance.golden.statement_tests import refused, shared, signed

__all__ = ["two_readings"]

_UNKNOWN_FIELD: Final = wire.field(60000, b"a")


def two_readings() -> list[Group]:
    """A group for each kind."""
    return [
        _two_readings("capability", CommitCapability, _CAPABILITY_READINGS),
        _two_readings("capability", ValidationReceipt, _VALIDATION_READINGS),
    ]


_SMALL: Final = encode(CommitCapability(capability_id="cap_01", issuer=ISSUER))
_ID: Final = wire.field(1, b"cap_01")
_REST: Final = _SMALL.removeprefix(_ID)

_CAPABILITY_READINGS: Final = (
    ("truncated", "not_parsable", "the last byte is missing", _SMALL[:-1]),
    ("wrong-wire-type", "unknown_field", "field 1 as a varint instead of a string", wire.field(1, 1)),
    ("not-utf8", "not_parsable", "capability_id is no UTF-8", wire.field(1, b"\xff")),
    ("cesu-surrogate", "not_parsable", "capability_id holds an encoded surrogate", wire.field(1, b"\xed\xa0\x80")),
    ("unknown-field-behind", "unknown_field", "field 60000 after the known ones", _SMALL + _UNKNOWN_FIELD),
    ("unknown-field-before", "unknown_field", "field 60000 before the known ones", _UNKNOWN_FIELD + _SMALL),
    (
        "unknown-field-nested",
        "unknown_field",
        "field 15 inside the tenant",
        _SMALL + wire.field(4, wire.field(15, b"xyz")),
    ),
    (
        "two-readings",
        "unknown_field",
        "case I14: field 14, a string, twice as a varint behind max_uses",
        wire.field(25, 1) + wire.field(14, 1) * 2,
    ),
    ("field-twice", "not_deterministic", "capability_id twice, the last wins", wire.field(1, b"x") + _SMALL),
    ("fields-swapped", "not_deterministic", "issuer before capability_id", _REST + _ID),
    ("default-written", "not_deterministic", "correlation_id written though empty", _SMALL + wire.field(26, b"")),
    (
        "long-tag",
        "not_deterministic",
        "the tag of capability_id in two bytes",
        wire.tag(1, wire.BYTES, size=2) + _SMALL[1:],
    ),
    (
        "long-length",
        "not_deterministic",
        "the length of capability_id in two bytes",
        _SMALL[:1] + wire.varint(6, size=2) + _SMALL[2:],
    ),
    (
        "long-varint",
        "not_deterministic",
        "max_uses = 1 in two bytes",
        _SMALL + wire.tag(25, wire.VARINT) + wire.varint(1, size=2),
    ),
    (
        "varint-beyond-32-bits",
        "not_deterministic",
        "max_uses = 2^32 + 1, which parsers cut to 1",
        _SMALL + wire.field(25, 2**32 + 1),
    ),
    (
        "nested-split",
        "not_deterministic",
        "the tenant in two parts, which parsers merge",
        _SMALL + wire.field(4, wire.field(1, b"n")) + wire.field(4, wire.field(2, b"i")),
    ),
    (
        "half-a-millisecond",
        "instant_out_of_range",
        "expire_time with 500,000 ns",
        wire.field(24, wire.field(2, 500_000)),
    ),
    (
        "year-10000",
        "instant_out_of_range",
        "expire_time 10000-01-01T00:00:00Z",
        wire.field(24, wire.field(1, 253_402_300_800)),
    ),
    (
        "negative-nanos",
        "instant_out_of_range",
        "expire_time with -1,000,000 ns",
        wire.field(24, wire.field(2, 2**64 - 1_000_000)),
    ),
)
_VALIDATION_READINGS: Final = (
    ("unknown-enum-value", "unknown_enum_value", "outcome = 4", wire.field(11, 4)),
    ("unknown-enum-value-nested", "unknown_enum_value", "outcome = 99 in a finding", wire.field(10, wire.field(3, 99))),
)


def _two_readings(key: str, kind: type, payloads: tuple[tuple[str, str, str, bytes], ...]) -> Group:
    payload_type = payload_type_of(kind)
    return Group(
        "Well signed payloads that break the reading rule",
        list(_well_signed(key, payload_type, payloads)),
        shared(key, payload_type),
    )


def _well_signed(key: str, payload_type: str, payloads: tuple[tuple[str, str, str, bytes], ...]) -> Iterator[Test]:
    for name, problem, comment, payload in payloads:
        signature = Signature(key_id=published_key(key).public_key.key_id, signature=signed(key, payload_type, payload))
        statement = SignedStatement(payload_type=payload_type, payload=payload, signature=signature)
        yield refused(name, comment, "TwoReadings", statement, problem)
