"""What the fields of particular payloads can hold, and how else it could be written, for `reading.json`."""

from collections.abc import Iterator
from typing import Final

from capability_authority_conformance.golden import wire
from capability_authority_conformance.golden.form import Group, Test
from capability_authority_conformance.golden.reading_capabilities import capabilities
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

_TWO_TO_32: Final = 2**32
_TWO_TO_64: Final = 2**64
_LAST_SECOND: Final = 253_402_300_799
_FIRST_SECOND: Final = -62_135_596_800


def groups_of_values() -> Iterator[Group]:
    """All of them."""
    capability, grant = SAMPLES["commit-capability"].payload_type, SAMPLES["grant"].payload_type
    yield Group(
        "Texts and numbers of a commit capability", list(capabilities(capability)), {"payload_type": capability}
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
