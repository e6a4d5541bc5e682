"""The port `AuditLog` and the verbs over it: what every store keeps to."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from authority.domain import limits
from authority.domain.audit import AuditFilter, ToldEvent
from authority.domain.identity import PrincipalKind
from authority.domain.reasons import Reason
from authority.domain.references import SECOND, TenantRef, after
from authority.domain.refusal import Refusal
from authority.usecases.paging import PageRequest
from authority.usecases.ports import AuditLog, AuditNews
from authority.usecases.read_audit import AuditTidings, AuditWatch
from tests.world.world import Person, World, must, reason_of

ALL = AuditFilter()


async def listed(
    world: World, wanted: AuditFilter = ALL, *, size: int = 100, token: str = "", oldest_first: bool = False
) -> tuple[list[ToldEvent], str]:
    """A page for the admin."""
    page = await world.authority.do.list_audit_events(
        world.admin.calls(), wanted, PageRequest(size, token), oldest_first=oldest_first
    )
    return list(must(page).items), must(page).next_token


async def opened(
    world: World, *, cursor: str = "", wanted: AuditFilter = ALL, from_beginning: bool = False, by: Person | None = None
) -> AuditWatch:
    """A watch of the admin."""
    caller = (by or world.admin).calls()
    return must(await world.authority.do.open_audit_watch(caller, wanted, cursor, from_beginning=from_beginning))


async def told(watch: AuditWatch) -> AuditTidings:
    """What the watch tells next."""
    with watch.listening() as woken:
        return must(await watch.next(woken))


def ids(events: "list[ToldEvent] | AuditTidings") -> list[int]:
    return [event.event_id for event in (events.events if isinstance(events, AuditTidings) else events)]


# --- lists ------------------------------------------------------------------------------------------------------------


async def test_pages_hold_every_event_once_in_either_order(world: World) -> None:
    await world.committed()
    everything, _ = await listed(world, oldest_first=True)
    assert ids(everything) == sorted(set(ids(everything)))
    for oldest_first in (True, False):
        found, token = await listed(world, size=3, oldest_first=oldest_first)
        while token:
            more, token = await listed(world, size=3, token=token, oldest_first=oldest_first)
            found += more
        assert found == (everything if oldest_first else everything[::-1])


async def test_each_condition_is_kept_to(world: World) -> None:
    issued, _ = await world.committed(by=world.agent, correlation_id="one")
    world.authority.clock.advance(SECOND)
    now = world.now()
    await world.committed(correlation_id="two")
    subject = issued.capability.terms.capability_id
    filters = [
        AuditFilter(kind="capability.issue"),
        AuditFilter(actor=world.agent.ref),
        AuditFilter(subject=subject),
        AuditFilter(correlation_id="two"),
        AuditFilter(start=now),
        AuditFilter(end=now),
        AuditFilter(start=now, end=after(now, SECOND), kind="memory.commit", actor=world.service.ref),
        AuditFilter(kind="capability.issue", subject="elsewhere"),
    ]
    everything, _ = await listed(world)
    for wanted in filters:
        found, _ = await listed(world, wanted)
        assert found == [it for it in everything if wanted.takes(it.event)]
    counts = [len((await listed(world, wanted))[0]) for wanted in filters]
    assert counts[0] == 2
    assert counts[2] == 1
    assert counts[-2:] == [1, 0]


async def test_g02_a_tenant_sees_its_own_events_alone(world: World) -> None:
    neighbour = await world.neighbour()
    await neighbour.committed()
    found, _ = await listed(world)
    assert {it.event.tenant for it in found} == {world.tenant}
    watch = await opened(world, from_beginning=True)
    assert {it.event.tenant for it in (await told(watch)).events} == {world.tenant}


@pytest.mark.parametrize("kind", [kind for kind in PrincipalKind if kind is not PrincipalKind.ADMIN])
async def test_the_caller_column_only_an_admin_reads_the_audit_log(world: World, kind: PrincipalKind) -> None:
    other = (await world.register(kind, "other")).calls()
    page = await world.authority.do.list_audit_events(other, ALL, PageRequest(1, ""), oldest_first=False)
    watch = await world.authority.do.open_audit_watch(other, ALL, "", from_beginning=False)
    assert page == watch == Refusal(Reason.NOT_ALLOWED, {"kind": "admin"})


# --- watches ----------------------------------------------------------------------------------------------------------


async def test_a_watch_tells_what_comes_and_nothing_from_before(world: World) -> None:
    # given a watch on a tenant with a past
    await world.committed()
    watch = await opened(world)

    # when it begins, then it says at once where it is; and tells whatever comes, as soon as it is asked
    first = await told(watch)
    assert (list(first.events), first.as_of) == ([], world.now())
    issued = await world.issued()
    news = await told(watch)
    assert [it.event.kind for it in news.events] == [
        "proposal.create", "proposal.validate", "policy.decide", "capability.issue",
    ]  # fmt: skip

    # and one that waits is woken
    waiting = asyncio.create_task(told(watch))
    must(await world.commit(issued))
    woken = await waiting
    while not woken.events:
        woken = await told(watch)
    assert [it.event.kind for it in woken.events] == ["memory.commit"]


async def test_a_watch_from_the_beginning_and_by_cursors_tells_everything_once(world: World) -> None:
    # given more events than one message holds
    for number in range(110):
        await world.proposed(f"fact {number} of many".encode())
    everything, _ = await listed(world, size=200, oldest_first=True)

    # when each message is asked of another watch, by the cursor of the one before
    found: list[int] = []
    tidings = await told(await opened(world, from_beginning=True))
    assert tidings.as_of is None, "there is more to tell at once"
    while tidings.events:
        found += ids(tidings)
        tidings = await told(await opened(world, cursor=tidings.cursor))

    # then all is told once, and at the end until when
    assert found == ids(everything)
    assert tidings.as_of == world.now()


async def test_a_watch_with_conditions_tells_of_no_other(world: World) -> None:
    wanted = AuditFilter(kind="memory.commit")
    watch = await opened(world, wanted=wanted)
    cursor = (await told(watch)).cursor
    await world.committed()
    news = await told(await opened(world, wanted=wanted, cursor=cursor))
    assert [it.event.kind for it in news.events] == ["memory.commit"]


async def test_a_cursor_is_good_for_its_caller_and_its_conditions_alone(world: World) -> None:
    cursor = (await told(await opened(world))).cursor
    neighbour = await world.neighbour()
    colleague = await world.register(PrincipalKind.ADMIN, "colleague")
    tries = [
        (world.admin, AuditFilter(kind="memory.commit"), cursor),
        (colleague, ALL, cursor),
        (neighbour.admin, ALL, cursor),
        (world.admin, ALL, cursor[:-1] + ("A" if cursor[-1] != "A" else "B")),
        (world.admin, ALL, "made-up"),
    ]
    for person, wanted, presented in tries:
        refusal = await world.authority.do.open_audit_watch(person.calls(), wanted, presented, from_beginning=False)
        assert (reason_of(refusal), isinstance(refusal, Refusal) and refusal.facts["field"]) == (
            Reason.MALFORMED,
            "cursor",
        )


async def test_i11_whoever_is_revoked_is_told_nothing_more(world: World) -> None:
    # given a watch of an admin
    watch = await opened(world)
    await told(watch)

    # when the admin is revoked, then the very event that says so is not told
    await world.authority.store.administration.revoke_principal(world.tenant, world.admin.ref, world.now())
    with watch.listening() as woken:
        assert await watch.next(woken) == Refusal(Reason.CALLER_UNAUTHENTICATED)


async def test_silence_is_broken_by_a_heartbeat_that_says_until_when(world: World) -> None:
    watch = await opened(world)
    await told(watch)
    world.authority.clock.advance(SECOND)
    beat = await told(watch)
    assert (list(beat.events), beat.as_of) == ([], world.now())


async def test_nothing_vouches_for_a_part_of_what_there_is(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # given more events than one message has
    watch = await opened(world)
    await told(watch)
    for _ in range(3):
        await world.proposed()
    monkeypatch.setattr(limits, "WATCH_EVENTS", 2)
    # when they are told, then only the message with the last of them says that there is nothing else
    messages = [await told(watch), await told(watch)]
    assert [len(message.events) for message in messages] == [2, 1]
    assert [message.as_of for message in messages] == [None, world.now()]


@dataclass(frozen=True)
class Interrupted:
    """A log that something happens to after it was read, before what was read is told."""

    log: AuditLog
    meanwhile: Callable[[], Awaitable[None]]

    def __getattr__(self, name: str) -> object:
        return getattr(self.log, name)

    async def news(self, tenant: TenantRef, wanted: AuditFilter, after: str, size: int) -> AuditNews | Refusal:
        """What there was."""
        news = await self.log.news(tenant, wanted, after, size)
        await self.meanwhile()
        return news


async def test_a_watch_vouches_for_no_moment_after_the_reading(world: World) -> None:
    # given a change a second after the log was read
    read_time = world.now()

    async def meanwhile() -> None:
        world.authority.clock.advance(SECOND)
        await world.proposed()

    interrupted: Any = Interrupted(world.authority.store.audit_log, meanwhile)
    opening = replace(world.authority.do.open_audit_watch, log=interrupted)
    watch = must(await opening(world.admin.calls(), ALL, "", from_beginning=False))
    # when what was read is told, then as of when it was read, not as of when it is told
    tidings = await told(watch)
    assert (list(tidings.events), tidings.as_of) == ([], read_time)
