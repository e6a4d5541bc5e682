"""`times.json`: what holds when, with `now` as an input (semantics §3, case E12)."""

from collections.abc import Iterator
from typing import Final

from capability_authority.offline import encode, pae, payload_type_of, sign, timestamp
from capability_authority.v1.statements_pb2 import CommitCapability, Grant, SignedStatement
from capability_authority_conformance.golden import wire
from capability_authority_conformance.golden.form import Flag, Group, Test, VectorFile
from capability_authority_conformance.golden.key_sets import key_record
from capability_authority_conformance.golden.published_keys import published, published_key
from capability_authority_conformance.golden.samples import ISSUER, NOW_MS, SAMPLES

__all__ = ["times"]

_FLAGS: Final = (
    Flag("Within", "BASIC", "Between the beginning and the end.", "Nothing is ever good."),
    Flag(
        "Boundary",
        "EDGE_CASE",
        "`[not_before, expire)`: the first millisecond counts, the one in which it ends no longer (case E12).",
        "What has ended is used once more.",
    ),
    Flag(
        "Skew",
        "EDGE_CASE",
        "A clock may be 30 s behind at the beginning. There is no such grace at the end.",
        "Fresh statements are refused, or ended ones taken.",
    ),
    Flag("FarAway", "OUT_OF_RANGE", "Times far from each other, and at the ends of all time.", "A number overflows."),
    Flag(
        "NotAnInstant",
        "OUT_OF_RANGE",
        "A time finer than a millisecond, or in no year from 1 to 9999: nobody reads it as another.",
        "Two languages hold different times.",
    ),
)

_SKEW_MS: Final = 30_000
_FIRST_MS: Final = 0
_LAST_MS: Final = 253_402_300_799_999
_KINDS: Final = {"commit-capability": "capability", "grant": "grant"}
_BEGIN_FIELD: Final = 23
_END_FIELD: Final = 24
"""Of both kinds."""
_IDS: Final = tuple(f"0199a3c5-0000-7000-8000-00000000000{number}" for number in range(3))


def times() -> VectorFile:
    """The file."""
    return VectorFile(
        "times",
        "Statements with a beginning and an end, and the clock of whoever verifies them.",
        _FLAGS,
        [
            Group(
                f"A {kind.replace('-', ' ')} at a time",
                list(_of_kind(kind)),
                {
                    "issuer": ISSUER,
                    "payload_type": SAMPLES[kind].payload_type,
                    "keys": [published(key)],
                    "key_set": [key_record(key)],
                },
            )
            for kind, key in _KINDS.items()
        ],
    )


def _of_kind(kind: str) -> Iterator[Test]:
    begin, end = NOW_MS, NOW_MS + 900_000
    for name, comment, flag, now_ms, reason in (
        ("middle", "in between", "Within", begin + 450_000, None),
        ("first", "the first millisecond", "Boundary", begin, None),
        ("last", "the last millisecond", "Boundary", end - 1, None),
        ("end", "the millisecond in which it ends", "Boundary", end, "expired"),
        ("after-the-end", "a millisecond later", "Boundary", end + 1, "expired"),
        ("no-grace-at-the-end", "30 s after the end", "Skew", end + _SKEW_MS, "expired"),
        ("no-grace-just-before-it-is-over", "a millisecond less", "Skew", end + _SKEW_MS - 1, "expired"),
        ("grace", "30 s before the beginning", "Skew", begin - _SKEW_MS, None),
        ("beyond-the-grace", "30 s and a millisecond before", "Skew", begin - _SKEW_MS - 1, "not_yet_valid"),
        ("long-before", "in 1970", "FarAway", _FIRST_MS, "not_yet_valid"),
        ("long-after", "in 9999", "FarAway", _LAST_MS, "expired"),
        (
            "seconds-for-milliseconds",
            "a clock that counts seconds",
            "FarAway",
            (begin + 450_000) // 1_000,
            "not_yet_valid",
        ),
        ("microseconds", "a clock that counts tens of microseconds", "FarAway", (begin + 450_000) * 100, "expired"),
    ):
        yield _test(f"{kind}-{name}", comment, flag, _valid(kind, begin, end), now_ms, reason)
    yield from _edges_of_time(kind)
    yield from _no_instants(kind)


def _edges_of_time(kind: str) -> Iterator[Test]:
    early, late = _valid(kind, _FIRST_MS, 1_000), _valid(kind, _LAST_MS - 1_000, _LAST_MS)
    yield _test(f"{kind}-1970", "from 1970 on, in 1970", "FarAway", early, _FIRST_MS, None)
    yield _test(f"{kind}-1970-ended", "its end, a second later", "FarAway", early, 1_000, "expired")
    yield _test(f"{kind}-9999", "until the last millisecond of 9999", "FarAway", late, _LAST_MS - 1, None)
    yield _test(f"{kind}-9999-ended", "in that millisecond", "FarAway", late, _LAST_MS, "expired")
    yield _test(f"{kind}-9999-early", "today", "FarAway", late, NOW_MS, "not_yet_valid")
    if kind != "grant":
        for_ever = _valid(kind, _FIRST_MS, _LAST_MS)
        yield _test(
            f"{kind}-for-ever",
            "from 1970 to 9999; how long one may live is asked when it is issued",
            "FarAway",
            for_ever,
            NOW_MS,
            None,
        )


def _no_instants(kind: str) -> Iterator[Test]:
    for name, comment, field, inner in (
        (
            "half-a-millisecond",
            "an end finer than a millisecond",
            _END_FIELD,
            wire.field(1, 1_790_000_900) + wire.field(2, 500_000),
        ),
        (
            "nanosecond-before",
            "a beginning that is a nanosecond earlier",
            _BEGIN_FIELD,
            wire.field(1, 1_789_999_999) + wire.field(2, 999_999_999),
        ),
        ("year-10000", "an end after all time", _END_FIELD, wire.field(1, 253_402_300_800)),
        ("year-0", "a beginning before all time", _BEGIN_FIELD, wire.field(1, 2**64 - 62_135_596_801)),
        (
            "second-60",
            "nanos of a whole second",
            _END_FIELD,
            wire.field(1, 1_790_000_899) + wire.field(2, 1_000_000_000),
        ),
    ):
        yield _test(
            f"{kind}-{name}", comment, "NotAnInstant", _with_time(kind, field, inner), NOW_MS, "instant_out_of_range"
        )


def _message(kind: str) -> CommitCapability | Grant:
    """The sample, with ids as an authority makes them."""
    message = type(SAMPLES[kind].message)()
    message.CopyFrom(SAMPLES[kind].message)
    assert isinstance(message, CommitCapability | Grant)
    if isinstance(message, CommitCapability):
        message.capability_id, message.proposal_id, message.approval_reference = _IDS
    return message


def _valid(kind: str, begin_ms: int, end_ms: int) -> SignedStatement:
    message = _message(kind)
    message.not_before_time.CopyFrom(timestamp(begin_ms))
    message.expire_time.CopyFrom(timestamp(end_ms))
    return sign(message, published_key(_KINDS[kind]))


def _with_time(kind: str, number: int, inner: bytes) -> SignedStatement:
    """The sample with these bytes for one of its times, well signed."""
    message, key = _message(kind), published_key(_KINDS[kind])
    fields = wire.fields_of(encode(message))
    payload = b"".join(wire.field(number, inner) if field.number == number else field.raw for field in fields)
    statement = SignedStatement(payload_type=payload_type_of(type(message)), payload=payload)
    statement.signature.key_id = key.public_key.key_id
    statement.signature.signature = key.sign(pae(statement.payload_type, payload))
    return statement


def _test(name: str, comment: str, flag: str, statement: SignedStatement, now_ms: int, reason: str | None) -> Test:
    inputs = {"statement": statement.SerializeToString(deterministic=True).hex(), "now_ms": now_ms}
    return Test(name, comment, (flag,), inputs, reason)
