"""The real clock and real ids."""

import secrets
import time
import uuid

from authority.domain.references import Instant


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
        high = (milliseconds << 16) | 0x7000 | secrets.randbits(12)
        low = (0b10 << 62) | secrets.randbits(62)
        return str(uuid.UUID(int=(high << 64) | low))
