"""Waking those who watch: one question for all of them, and none while nobody watches."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack

from authority.domain.references import TenantRef
from authority.domain.revocation import AUTHORITY_ITSELF
from authority.usecases.notices import Notices
from authority.usecases.ports import DependencyUnavailable

ONE, OTHER = TenantRef("test", "one"), TenantRef("test", "other")
WITHIN_S = 20.0


class Log:
    """Says of which tenants there is news, when it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[frozenset[TenantRef], str]] = []
        self.news: set[TenantRef] = set()
        self.is_away = False
        self.is_broken_off = False
        self._turn = asyncio.Event()

    async def changed(self, tenants: Sequence[TenantRef], since: str) -> tuple[frozenset[TenantRef], str]:
        """Answers once, then has nothing."""
        self.asked.append((frozenset(tenants), since))
        self._turn.set()
        if self.is_away:
            raise DependencyUnavailable("away")
        if self.is_broken_off:
            raise asyncio.CancelledError
        news, self.news = frozenset(self.news), set()
        return news, f"seen {len(self.asked)}"

    async def is_asked(self, times: int = 2) -> None:
        """Returns once it was asked so often from now on."""
        for _ in range(times):
            self._turn.clear()
            await asyncio.wait_for(self._turn.wait(), WITHIN_S)


async def test_those_of_a_tenant_with_news_are_woken_and_nobody_else() -> None:
    log = Log()
    notices = Notices(log.changed, every_s=0)
    with notices.of(ONE) as first, notices.of(ONE) as second, notices.of(OTHER) as third:
        await log.is_asked()
        log.news = {ONE}
        await log.is_asked()
        assert [woken.is_set() for woken in (first, second, third)] == [True, True, False]


async def test_one_question_is_asked_for_all_who_watch_and_goes_on_from_what_was_seen() -> None:
    log = Log()
    notices = Notices(log.changed, every_s=0)
    with ExitStack() as watching:
        for tenant in (ONE, OTHER) * 50:
            watching.enter_context(notices.of(tenant))
        await log.is_asked(3)
        assert {tenants for tenants, _ in log.asked} == {frozenset({ONE, OTHER, AUTHORITY_ITSELF})}
        assert [since for _, since in log.asked[:3]] == ["", "seen 1", "seen 2"]


async def test_what_concerns_every_tenant_wakes_everybody() -> None:
    log = Log()
    notices = Notices(log.changed, every_s=0)
    with notices.of(ONE) as first, notices.of(OTHER) as other:
        await log.is_asked()
        log.news = {AUTHORITY_ITSELF}
        await log.is_asked()
        assert first.is_set()
        assert other.is_set()


async def test_nothing_is_asked_while_nobody_watches_and_again_when_somebody_does() -> None:
    log = Log()
    notices = Notices(log.changed, every_s=0)
    with notices.of(ONE):
        await log.is_asked()
    before = len(log.asked)
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(log.asked) == before
    with notices.of(ONE):
        await log.is_asked()
    assert len(log.asked) > before


async def test_what_was_missed_while_the_database_was_away_is_asked_for_from_the_start() -> None:
    log = Log()
    notices = Notices(log.changed, every_s=0)
    with notices.of(ONE):
        await log.is_asked()
        log.is_away = True
        await log.is_asked()
        log.is_away = False
        start = len(log.asked)
        await log.is_asked(3)
    assert log.asked[start][1] == ""
    assert log.asked[start + 1][1] != ""


async def test_f02_a_question_that_was_broken_off_is_asked_again_for_the_next_who_watches() -> None:
    log = Log()
    notices = Notices(log.changed, every_s=0)
    with notices.of(ONE):
        # given that whatever carried the question was taken down under it
        log.is_broken_off = True
        await log.is_asked(1)
        await asyncio.sleep(0)
        log.is_broken_off = False
        # when somebody else begins to watch, then both are woken again
        with notices.of(OTHER):
            await log.is_asked(1)
            assert log.asked[-1][0] == {ONE, OTHER, AUTHORITY_ITSELF}
