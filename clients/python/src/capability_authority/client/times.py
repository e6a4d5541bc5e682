"""Python's times as the contract's: whole milliseconds (semantics §3)."""

from datetime import UTC, datetime, timedelta
from typing import Final

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from capability_authority.offline import timestamp

__all__ = ["duration_message", "time_message"]

_MS: Final = timedelta(milliseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def time_message(time: datetime | None) -> Timestamp | None:
    """The instant, its microseconds cut off; None stays None. Raises `ValueError` for a time without a zone."""
    if time is None:
        return None
    if time.tzinfo is None:
        raise ValueError(f"a time needs its zone: {time.isoformat()}")
    return timestamp((time - _EPOCH) // _MS)


def duration_message(duration: timedelta | None) -> Duration | None:
    """The duration, its microseconds cut off; None stays None."""
    if duration is None:
        return None
    message = Duration()
    message.FromMilliseconds(duration // _MS)
    return message
