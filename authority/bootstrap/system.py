"""The real clock and real ids."""

import os
import time

from authority.domain.references import Instant

_RANDOM_BYTES = 10
_LOW_MASK = (1 << 62) - 1


class SystemClock:
    """Implements `ports.Clock` by the machine's clock."""

    def now(self) -> Instant:
        """The present instant."""
        return Instant(time.time_ns() // 1_000_000)


class TimeOrderedIds:
    """Implements `ports.Identifiers` by UUIDs of version 7 (RFC 9562): new rows go to the end of their index."""

    def new(self) -> str:
        """48 bits of milliseconds and 74 random bits."""
        milliseconds = time.time_ns() // 1_000_000
        # One look at the system's randomness: three ids are made for every commit.
        random = int.from_bytes(os.urandom(_RANDOM_BYTES))
        high = (milliseconds << 16) | 0x7000 | (random >> 62 & 0xFFF)
        low = (0b10 << 62) | (random & _LOW_MASK)
        digits = f"{(high << 64) | low:032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
