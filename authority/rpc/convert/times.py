"""Instants and durations: whole milliseconds in the range that every reader can hold (semantics §3, case C15)."""

from typing import TYPE_CHECKING

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from authority.domain import limits
from authority.domain.references import SECOND, Instant
from authority.domain.refusal import malformed, over_limit
from authority.domain.shape import is_instant
from authority.rpc.refused import Refused

if TYPE_CHECKING:
    from google.protobuf.duration_pb2 import Duration

_NANOS_PER_MS = 1_000_000
_NANOS_PER_SECOND = 1_000_000_000


def optional_instant(message: Message, field: str) -> Instant | None:
    """The instant in the field, or None when it is not set."""
    if not message.HasField(field):
        return None
    timestamp: Timestamp = getattr(message, field)
    milliseconds = timestamp.seconds * SECOND + _whole_milliseconds(timestamp.nanos, field)
    if timestamp.nanos < 0 or not is_instant(milliseconds):
        raise Refused(malformed(field, "must lie between 1970 and 9999"))
    return Instant(milliseconds)


def lifetime(message: Message, field: str) -> int:
    """How many milliseconds a capability lives: 15 minutes when the field is not set."""
    wanted = optional_lifetime(message, field, limits.CAPABILITY_LIFETIME_MS, "24 hours")
    return limits.CAPABILITY_LIFETIME_DEFAULT_MS if wanted is None else wanted


def optional_lifetime(message: Message, field: str, most_ms: int, most: str) -> int | None:
    """From one second to `most_ms` milliseconds, in words `most`; None when the field is not set."""
    if not message.HasField(field):
        return None
    duration: Duration = getattr(message, field)
    milliseconds = duration.seconds * SECOND + _whole_milliseconds(duration.nanos, field)
    if milliseconds < limits.CAPABILITY_LIFETIME_LEAST_MS:
        raise Refused(malformed(field, "at least one second"))
    if milliseconds > most_ms:
        raise Refused(over_limit(field, most))
    return milliseconds


def require_order(earlier: Instant | None, later: Instant | None, field: str) -> None:
    """MALFORMED when the range is empty; `field` names its end."""
    if earlier is not None and later is not None and later <= earlier:
        raise Refused(malformed(field, "must be later than the beginning"))


def timestamp_message(instant: Instant) -> Timestamp:
    """The instant as it is sent."""
    seconds, milliseconds = divmod(instant, SECOND)
    return Timestamp(seconds=seconds, nanos=milliseconds * _NANOS_PER_MS)


def optional_timestamp(instant: Instant | None) -> Timestamp | None:
    """The instant as it is sent, or nothing."""
    return None if instant is None else timestamp_message(instant)


def _whole_milliseconds(nanos: int, field: str) -> int:
    if abs(nanos) >= _NANOS_PER_SECOND or nanos % _NANOS_PER_MS:
        raise Refused(malformed(field, "must be whole milliseconds"))
    return nanos // _NANOS_PER_MS
