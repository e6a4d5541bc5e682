"""Whether Redis has memory to spare for what is only cached."""

import asyncio
import time
from collections.abc import Callable

import structlog

from authority.redis.link import RedisAwayError, RedisLink

_log = structlog.get_logger(__name__)

_MOST_USED = 0.75
"""The share of maxmemory up to which receipts are cached."""
_LOOK_AGAIN_S = 1.0


class SpareMemory:
    """Keeps the replay cache from filling Redis: a full one takes no nonces either, and no read would be let through.

    Looks once a second at most, when asked. `now` shows seconds of a clock that never jumps.
    """

    def __init__(self, link: RedisLink, *, now: Callable[[], float] = time.monotonic) -> None:
        self._link = link
        self._now = now
        self._look_at = now()
        self._left = True
        self._looking: asyncio.Task[None] | None = None

    def is_left(self) -> bool:
        """Whether there was memory to spare when last looked. Waits for nothing: a look that is due ends later."""
        if self._now() >= self._look_at:
            self._look_at = self._now() + _LOOK_AGAIN_S
            self._looking = asyncio.create_task(self._look())
        return self._left

    async def _look(self) -> None:
        try:
            facts = await self._link.ask("INFO", "memory")
        except RedisAwayError:
            return
        left = _has_spare(facts)
        if left is not self._left:
            _log.warning("redis_caches_receipts_again" if left else "redis_has_no_memory_for_receipts")
        self._left = left


def _has_spare(facts: object) -> bool:
    """Without a maxmemory there is always some: nothing is known of the machine's own."""
    match facts:
        case {"used_memory": int(used), "maxmemory": int(most)} if most > 0:
            return used < most * _MOST_USED
        case _:
            return True
