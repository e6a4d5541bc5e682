"""Instants: UTC, whole milliseconds, years 1 to 9999 (semantics §3). In Python an int, on the wire a Timestamp."""

from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from capability_authority.offline.errors import InstantError

__all__ = ["FIRST_INSTANT_MS", "LAST_INSTANT_MS", "InstantError", "instant_ms", "timestamp"]

FIRST_INSTANT_MS: Final = -62_135_596_800_000
"""0001-01-01T00:00:00.000Z, in milliseconds since 1970."""
LAST_INSTANT_MS: Final = 253_402_300_799_999
"""9999-12-31T23:59:59.999Z, in milliseconds since 1970."""

_NANOS_PER_MS: Final = 1_000_000
_NANOS_PER_SECOND: Final = 1_000_000_000


def instant_ms(value: Timestamp) -> int:
    """Milliseconds since 1970-01-01T00:00:00Z.

    Raises `InstantError` for a part of a millisecond, nanoseconds outside [0, 10^9), or a year outside 1 to 9999.
    """
    nanos = value.nanos
    if not 0 <= nanos < _NANOS_PER_SECOND or nanos % _NANOS_PER_MS:
        raise InstantError("an instant has whole milliseconds")
    return _in_range(value.seconds * 1_000 + nanos // _NANOS_PER_MS)


def timestamp(ms: int) -> Timestamp:
    """The Timestamp of an instant in milliseconds since 1970. Raises `InstantError` outside the years 1 to 9999."""
    seconds, rest = divmod(_in_range(ms), 1_000)
    return Timestamp(seconds=seconds, nanos=rest * _NANOS_PER_MS)


def _in_range(ms: int) -> int:
    if not FIRST_INSTANT_MS <= ms <= LAST_INSTANT_MS:
        raise InstantError("an instant lies between the years 1 and 9999")
    return ms
