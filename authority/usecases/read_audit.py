"""Reads the audit log of a tenant: page by page, or as it grows (semantics §9)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from authority.domain import limits
from authority.domain.audit import AuditFilter, ToldEvent
from authority.domain.identity import Caller, require_admin
from authority.domain.references import SECOND, Instant
from authority.domain.refusal import Refusal
from authority.usecases.admit import Admit
from authority.usecases.notices import Notices
from authority.usecases.paging import Page, PageRequest, Pages
from authority.usecases.ports import AuditLog, Clock, Cursors, Registry
from authority.usecases.recheck import Recheck

_EVENT_BYTES = 2_048
"""The most that an event takes beside its costs: seven texts of at most 256 bytes each."""


@dataclass(frozen=True, slots=True)
class ListAuditEvents:
    """Events page by page."""

    admit: Admit
    log: AuditLog
    pages: Pages

    async def __call__(
        self, caller: Caller, wanted: AuditFilter, page: PageRequest, *, oldest_first: bool
    ) -> Page[ToldEvent] | Refusal:
        """The newest first unless told otherwise. NOT_ALLOWED for whoever is no admin of the tenant."""
        if refusal := await self.admit(caller) or require_admin(caller):
            return refusal

        async def fetch(after: str, size: int) -> Sequence[ToldEvent]:
            return await self.log.page(caller.tenant, wanted, oldest_first=oldest_first, after=after, size=size)

        query = ("audit", "oldest first" if oldest_first else "newest first", *wanted.terms())
        return await self.pages.turn(caller, query, page, fetch, lambda told: str(told.event_id), _weight)


def _weight(told: ToldEvent) -> int:
    return _EVENT_BYTES + sum(len(cost.stage) + len(cost.model) + 64 for cost in told.event.costs)


@dataclass(frozen=True, slots=True)
class AuditTidings:
    """One message of a watch: events, or none when there was nothing to tell for a while."""

    events: Sequence[ToldEvent]
    cursor: str
    """Where a later watch goes on, with the event after these."""
    as_of: Instant | None
    """Every change that was acknowledged before is told, here or earlier; None while more is to be told at once."""


@dataclass(frozen=True, slots=True)
class OpenAuditWatch:
    """Begins a watch for a caller whose proof has opened it."""

    registry: Registry
    log: AuditLog
    cursors: Cursors
    notices: Notices
    clock: Clock
    heartbeat_s: float = limits.HEARTBEAT_MS / SECOND

    async def __call__(
        self, caller: Caller, wanted: AuditFilter, cursor: str, *, from_beginning: bool
    ) -> "AuditWatch | Refusal":
        """Goes on after the cursor; without one it begins now, or with the first event that there is.

        NOT_ALLOWED for whoever is no admin of the tenant; MALFORMED `cursor` for one of another caller or query.
        """
        if refusal := require_admin(caller):
            return refusal
        binding = "\n".join((str(caller.tenant), str(caller.ref), "audit", *wanted.terms()))
        position = self.cursors.open(binding, cursor) if cursor else ""
        if isinstance(position, Refusal):
            return position
        if not cursor and not from_beginning:
            position = await self.log.now(caller.tenant)
        recheck = Recheck(self.registry, self.clock, caller, require_admin)
        return AuditWatch(self, caller, wanted, recheck, lambda reached: self.cursors.seal(binding, reached), position)


class AuditWatch:
    """One watch. Only one `next` may run at a time; what it answered stays answered when it is cancelled later."""

    def __init__(
        self,
        opened: OpenAuditWatch,
        caller: Caller,
        wanted: AuditFilter,
        recheck: Callable[[], Awaitable[Refusal | None]],
        seal: Callable[[str], str],
        position: str,
    ) -> None:
        self._opened = opened
        self._tenant = caller.tenant
        self._wanted = wanted
        self._recheck = recheck
        self._seal = seal
        self._position = position
        self._speaks_by = 0.0

    def listening(self) -> AbstractContextManager[asyncio.Event]:
        """What wakes the watch while the block lasts: given to each `next`."""
        return self._opened.notices.of(self._tenant)

    async def next(self, woken: asyncio.Event) -> AuditTidings | Refusal:
        """What to tell next: at once the first time, then when there is something, or after a while of silence.

        CALLER_UNAUTHENTICATED or NOT_ALLOWED once the caller is revoked or no admin any more: it is read anew before
        everything that is told. Raises DependencyUnavailable.
        """
        loop = asyncio.get_running_loop()
        while True:
            woken.clear()
            began = self._opened.clock.now()
            if refusal := await self._recheck():
                return refusal
            news = await self._opened.log.news(self._tenant, self._wanted, self._position, limits.WATCH_EVENTS)
            if isinstance(news, Refusal):
                return news
            self._position = news.position
            if news.events or loop.time() >= self._speaks_by:
                self._speaks_by = loop.time() + self._opened.heartbeat_s
                # Our clock may be ahead, and nobody can vouch for what is to come.
                as_of = None if news.has_more else min(began, news.read_time)
                return AuditTidings(news.events, self._seal(news.position), as_of)
            try:
                async with asyncio.timeout_at(self._speaks_by):
                    await woken.wait()
            except TimeoutError:
                continue
