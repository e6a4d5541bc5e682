"""Tells what was withdrawn in the caller's tenant, signed, as it happens (api.md WatchRevocations)."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from authority.domain import limits
from authority.domain.identity import Caller
from authority.domain.references import SECOND
from authority.domain.refusal import Refusal
from authority.domain.revocation import FeedEnd
from authority.domain.statement import Statement
from authority.usecases.notices import Notices
from authority.usecases.ports import Clock, Registry, RevocationFeed, Signer
from authority.usecases.recheck import Recheck


@dataclass(frozen=True, slots=True)
class FeedTidings:
    """One message of a watch. Without a heartbeat more items follow at once."""

    revocations: Sequence[Statement]
    heartbeat: Statement | None


@dataclass(frozen=True, slots=True)
class OpenRevocationWatch:
    """Begins a watch for a caller whose proof has opened it: any principal of the tenant."""

    registry: Registry
    feed: RevocationFeed
    signer: Signer
    notices: Notices
    clock: Clock
    heartbeat_s: float = limits.HEARTBEAT_MS / SECOND

    async def __call__(self, caller: Caller, cursor: int) -> "RevocationWatch":
        """Goes on after the item of this sequence, 0 from the first."""
        return RevocationWatch(self, caller, cursor)


class RevocationWatch:
    """One watch. Only one `next` may run at a time."""

    def __init__(self, opened: OpenRevocationWatch, caller: Caller, cursor: int) -> None:
        self._opened = opened
        self._tenant = caller.tenant
        self._recheck = Recheck(opened.registry, opened.clock, caller)
        self._cursor = cursor
        self._speaks_by = 0.0

    def listening(self) -> AbstractContextManager[asyncio.Event]:
        """What wakes the watch while the block lasts: given to each `next`."""
        return self._opened.notices.of(self._tenant)

    async def next(self, woken: asyncio.Event) -> FeedTidings | Refusal:
        """What to tell next: at once the first time, then when there is something, or after a while of silence.

        CALLER_UNAUTHENTICATED once the caller is revoked; MALFORMED `cursor` for one ahead of the feed. Raises
        DependencyUnavailable, also when no revocation key can sign.
        """
        loop = asyncio.get_running_loop()
        while True:
            woken.clear()
            # Whatever was acknowledged before is in what is read from now on.
            began = self._opened.clock.now()
            if refusal := await self._recheck():
                return refusal
            news = await self._opened.feed.news(self._tenant, self._cursor, limits.WATCH_EVENTS)
            if isinstance(news, Refusal):
                return news
            if news.items or loop.time() >= self._speaks_by:
                end = news.items[-1].sequence if news.items else self._cursor
                sign, heartbeat = self._opened.signer.sign_revocation, None
                if not news.has_more:
                    # Our clock may be ahead, and nobody can vouch for what is to come.
                    heartbeat = self._opened.signer.sign_heartbeat(
                        FeedEnd(self._tenant, end, min(began, news.read_time))
                    )
                tidings = FeedTidings([sign(self._tenant, item) for item in news.items], heartbeat)
                self._cursor, self._speaks_by = end, loop.time() + self._opened.heartbeat_s
                return tidings
            try:
                async with asyncio.timeout_at(self._speaks_by):
                    await woken.wait()
            except TimeoutError:
                continue
