"""Issuing is gathered: concurrent requests share calls, a bad one is set apart, and what was sent is finished."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.postgres.capabilities import IssuingSettings, PostgresCapabilities
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.postgres.gathering import GatheringSettings
from authority.usecases.ports import IssuedCapability, Offer
from tests.integration.postgres.forwarder import Forwarder
from tests.integration.postgres.offers import offer_of
from tests.integration.postgres.superuser import Superuser, gate, trigger, until
from tests.world.authority import Authority
from tests.world.stores import ANY_CLOCK_MS, connected, postgres_store
from tests.world.world import Issued, World, must, reason_of, soon


def capabilities_of(world: World) -> PostgresCapabilities:
    """The real ones."""
    capabilities = world.authority.store.capabilities
    assert isinstance(capabilities, PostgresCapabilities)
    return capabilities


def gathering(databases: Mapping[Power, Database], world: World, **changes: Any) -> PostgresCapabilities:
    """Capabilities that gather within other bounds."""
    settings = IssuingSettings(ANY_CLOCK_MS, GatheringSettings(**changes))
    authority = world.authority
    return PostgresCapabilities(databases[Power.ISSUE], authority.reader, authority.clock, settings)


async def issued_by(capabilities: PostgresCapabilities, offer: Offer, within_s: float = 20.0) -> object:
    """The outcome of one offer."""
    [outcome] = await capabilities.issue([offer], soon(within_s))
    return outcome


def offers_like(world: World, example: Issued, count: int) -> list[Offer]:
    """So many good offers, each under a key and a request id of its own."""
    return [offer_of(world, example, f"key-{number}", f"offer-{number}") for number in range(count)]


async def calls(superuser: Superuser, world: World) -> list[int]:
    """How many capabilities each transaction has made, beside those that a test began with."""
    rows = await superuser.fetch(
        "select count(*) as made from authority.capability where tenant = $1 and idempotency_key like 'key-%'"
        " group by xmin::text order by made",
        str(world.tenant),
    )
    return [row["made"] for row in rows]


async def live_under(superuser: Superuser, world: World, key: str) -> list[bytes]:
    """The digests of what was ever issued under the key."""
    rows = await superuser.fetch(
        "select digest from authority.capability where tenant = $1 and idempotency_key = $2", str(world.tenant), key
    )
    return [row["digest"] for row in rows]


# --- together ---------------------------------------------------------------------------------------------------------


async def test_what_comes_while_a_call_is_under_way_goes_together(
    world: World, superuser: Superuser, databases: Mapping[Power, Database]
) -> None:
    # given one call that stands still in the database
    capabilities = gathering(databases, world, calls=1)
    first, *others = offers_like(world, await world.issued(key="example"), 41)
    async with gate(superuser, "capability") as closed:
        running = [asyncio.create_task(issued_by(capabilities, first))]
        await closed.reached()
        # when forty more come
        running += [asyncio.create_task(issued_by(capabilities, offer)) for offer in others]
        await asyncio.sleep(0)
        await closed.open()
        outcomes = await asyncio.gather(*running)
    # then all are issued, the forty by one call
    for offer, outcome in zip([first, *others], outcomes, strict=True):
        assert outcome == IssuedCapability(offer.offered, replayed=False)  # type: ignore[arg-type] # none is refused
    assert await calls(superuser, world) == [1, 40]


async def test_requests_of_one_turn_are_two_calls(
    world: World, superuser: Superuser, databases: Mapping[Power, Database]
) -> None:
    # given thirty requests that come in one turn of the loop, when they are answered
    ground = await world.allowed()
    answers = await asyncio.gather(*(world.issue(ground, f"key-{number}") for number in range(30)))
    assert all(not must(answer).replayed for answer in answers)
    # then one transaction kept them all
    assert await calls(superuser, world) == [30]


async def test_a_hundred_that_ask_for_one_key_at_once_get_one_capability(world: World, superuser: Superuser) -> None:
    ground = await world.allowed()
    answers = await asyncio.gather(*(world.issue(ground, "one", within_s=20.0) for _ in range(100)))
    assert len({must(answer).capability.statement for answer in answers}) == 1
    assert [must(answer).replayed for answer in answers].count(False) == 1
    assert len(await live_under(superuser, world, "one")) == 1


async def test_an_offer_that_cannot_be_stored_is_set_apart_and_the_others_are_issued(
    world: World, superuser: Superuser, databases: Mapping[Power, Database]
) -> None:
    # given one offer among twenty about a revision that there is not
    capabilities = gathering(databases, world)
    many = offers_like(world, await world.issued(key="example"), 20)
    opened = many[13].offered
    assert not isinstance(opened, Refusal)
    terms = replace(opened.terms, proposal_id=world.authority.ids.new())
    many[13] = replace(many[13], offered=world.authority.signer.sign_capability(terms))
    # when they are offered together, then it alone is a fault
    outcomes = await capabilities.issue(many, soon(20.0))
    assert [isinstance(outcome, IssuedCapability) for outcome in outcomes] == [offer is not many[13] for offer in many]
    assert isinstance(outcomes[13], asyncpg.ForeignKeyViolationError)
    # and it uses up neither its key nor its request id
    assert await live_under(superuser, world, "key-13") == []
    assert isinstance(await issued_by(capabilities, replace(many[13], offered=opened)), IssuedCapability)


async def test_f01_one_of_a_batch_that_cannot_be_stored_is_a_fault_of_its_own(
    world: World, superuser: Superuser
) -> None:
    # given a batch of which a constraint refuses one
    ground = await world.allowed()
    batch = [world.terms(ground, f"key-{number}") for number in range(5)]
    refuse = "if new.idempotency_key = 'key-3' then raise exception using errcode = '23514'; end if;"
    async with trigger(superuser, "capability", refuse):
        answers = must(await world.issue_batch(batch))
    # then its caller learns of it that there was a defect, and the others are issued
    assert [reason_of(answer) for answer in answers] == [None, None, None, Reason.INTERNAL, None]
    # and it comes about once it can
    assert [must(answer).replayed for answer in must(await world.issue_batch(batch))] == [True, True, True, False, True]


async def test_what_cannot_wait_any_more_is_refused_early(
    world: World, superuser: Superuser, databases: Mapping[Power, Database]
) -> None:
    capabilities = gathering(databases, world, calls=1, most_waiting=3)
    *waiting, late = offers_like(world, await world.issued(key="example"), 4)
    async with gate(superuser, "capability") as closed:
        running = [asyncio.create_task(issued_by(capabilities, offer)) for offer in waiting]
        await closed.reached()
        assert await issued_by(capabilities, late) == Refusal(Reason.OVERLOADED)
        await closed.open()
        await asyncio.gather(*running)
    assert isinstance(await issued_by(capabilities, late), IssuedCapability)


# --- in the way -------------------------------------------------------------------------------------------------------


async def test_a_key_that_a_commit_holds_is_asked_again_and_the_others_do_not_wait(
    world: World, superuser: Superuser
) -> None:
    # given a capability that has expired, whose row a transaction has locked, as a commit does
    ground = await world.allowed()
    old = must(await world.issue(ground, "held", lifetime_ms=60_000)).capability
    world.authority.clock.advance(60_000)
    async with superuser.transaction():
        await superuser.execute(
            "select 1 from authority.capability where tenant = $1 and capability_id = $2 for update",
            str(world.tenant),
            old.terms.capability_id,
        )
        # when its key is asked for, then whoever waits shortly is told that it runs, and others go on
        assert await world.issue(ground, "held", within_s=0.3) == Refusal(Reason.IN_PROGRESS)
        waits = asyncio.create_task(world.issue(ground, "held", within_s=20.0))
        assert not must(await world.issue(ground, "free")).replayed
        assert not waits.done()
    # and whoever waits longer gets a new one, once the row is free
    new = must(await waits)
    assert not new.replayed
    assert new.capability.digest != old.digest


async def test_c09_a_call_that_collides_is_asked_again_whole(
    world: World, superuser: Superuser, databases: Mapping[Power, Database]
) -> None:
    # given an offer whose key another transaction has issued and not committed yet
    capabilities = gathering(databases, world)
    example = await world.issued(key="example")
    mine, theirs = (offer_of(world, example, "key-1", name) for name in ("mine", "theirs"))
    async with gate(superuser, "audit_event") as closed:
        first = asyncio.create_task(issued_by(gathering(databases, world), theirs))
        await closed.reached()
        # when it is offered meanwhile, then it waits for no longer than the lock timeout at a time, and in the end
        second = asyncio.create_task(issued_by(capabilities, mine))
        await until(lambda: has_collided(superuser))
        assert not second.done()
        await closed.open()
        outcomes = await asyncio.gather(first, second)
    # it finds what the other has issued, whichever it was
    assert outcomes[0] == IssuedCapability(theirs.offered, replayed=False)  # type: ignore[arg-type] # it is not refused
    assert outcomes[1] == IssuedCapability(theirs.offered, replayed=True)  # type: ignore[arg-type] # it is not refused


async def has_collided(superuser: Superuser) -> bool:
    """Whether a call of ours waits for another transaction."""
    waiting = await superuser.fetchval("select count(*) from pg_locks where locktype = 'transactionid' and not granted")
    return bool(waiting)


async def test_an_offer_that_has_waited_for_longer_than_it_would_live_is_refused(
    world: World, databases: Mapping[Power, Database]
) -> None:
    # given an offer that has expired before it was sent
    [offer] = offers_like(world, await world.issued(key="example"), 1)
    world.authority.clock.advance(60_000)
    # when it is sent, then it may come again, and nothing is used up
    capabilities = gathering(databases, world)
    assert await issued_by(capabilities, offer) == Refusal(Reason.OVERLOADED)
    [again] = offers_like(world, await world.issued(key="another"), 1)
    assert isinstance(await issued_by(capabilities, again), IssuedCapability)


async def test_b15_a_clock_that_is_off_issues_nothing(
    world: World, superuser: Superuser, databases: Mapping[Power, Database]
) -> None:
    # given a clock that is years off the database's, within a bound of five seconds
    [offer] = offers_like(world, await world.issued(key="example"), 1)
    strict = PostgresCapabilities(
        databases[Power.ISSUE], world.authority.reader, world.authority.clock, IssuingSettings(5_000)
    )
    assert await issued_by(strict, offer, within_s=0.3) == Refusal(Reason.DEPENDENCY_UNAVAILABLE)
    assert await live_under(superuser, world, "key-0") == []


# --- callers that go away ---------------------------------------------------------------------------------------------


async def test_c02_c03_a_request_whose_caller_goes_away_inside_it_is_finished(
    world: World, superuser: Superuser
) -> None:
    # given a call in the middle of its writing
    ground = await world.allowed()
    async with gate(superuser, "capability") as closed:
        task = asyncio.create_task(world.issue(ground, "k", request_id="r"))
        await closed.reached()
        # when its caller goes away, then the call goes on
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await live_under(superuser, world, "k") == []
        await closed.open()
        await capabilities_of(world).close()
    # and the same request finds what it made
    [digest] = await live_under(superuser, world, "k")
    again = must(await world.issue(ground, "k", request_id="r"))
    assert (again.replayed, again.capability.digest) == (True, digest)


async def test_c02_a_request_whose_caller_goes_away_at_any_moment_is_whole_or_nothing(
    world: World, superuser: Superuser
) -> None:
    ground = await world.allowed()
    for turns in range(16):
        # given a caller that goes away after this many turns of the loop
        task = asyncio.create_task(world.issue(ground, f"k{turns}", request_id=f"r{turns}"))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        # when it comes again, then there is one capability, by the first call or by the second
        again = must(await world.issue(ground, f"k{turns}", request_id=f"r{turns}"))
        assert await live_under(superuser, world, f"k{turns}") == [again.capability.digest]


# --- answers that are lost --------------------------------------------------------------------------------------------


@pytest.fixture
async def way(module_database: str) -> AsyncIterator[Forwarder]:
    """The way of the issuing calls to the database."""
    async with Forwarder(module_database) as forwarder:
        yield forwarder


@pytest.fixture
async def far_world(module_database: str, way: Forwarder, tmp_path: Path) -> AsyncIterator[World]:
    """A world whose issuing calls go by a way that can lose answers, each over one connection at a time."""
    async with connected(module_database) as databases:
        issuing = Database(await connect_pool(PoolSettings(way.url, Power.ISSUE, most=1)))
        mixed = {**databases, Power.ISSUE: issuing}
        authority = Authority.open(tmp_path / "keys", lambda *tools: postgres_store(mixed, *tools))
        yield await World.begin(authority)
        await issuing.close()


async def test_c01_an_answer_lost_after_the_commit_is_asked_for_again(
    far_world: World, way: Forwarder, superuser: Superuser
) -> None:
    # given offers whose statement is prepared, so that their call is one question and one answer
    world = far_world
    first, second = offers_like(world, await world.issued(key="example"), 2)
    # when the answer of the call that kept them is lost
    way.answers_to_lose = 1
    outcomes = await capabilities_of(world).issue([first, second], soon(20.0))
    # then the same offers find what they made: new, with the same bytes, and once
    assert way.answers_to_lose == 0
    assert outcomes == [
        IssuedCapability(first.offered, replayed=False),  # type: ignore[arg-type] # it is not refused
        IssuedCapability(second.offered, replayed=False),  # type: ignore[arg-type] # it is not refused
    ]
    assert await calls(superuser, world) == [2]


async def test_c01_an_answer_that_stays_lost_is_unavailable_and_its_retry_finds_it(
    far_world: World, way: Forwarder, superuser: Superuser
) -> None:
    world = far_world
    [offer] = offers_like(world, await world.issued(key="example"), 1)
    way.answers_to_lose = 1_000_000
    capabilities = capabilities_of(world)
    assert await issued_by(capabilities, offer, within_s=0.3) == Refusal(Reason.DEPENDENCY_UNAVAILABLE)
    # when the way is good again, then another offer under the key finds what was issued
    way.answers_to_lose = 0
    again = await issued_by(capabilities, replace(offer, offered=Refusal(Reason.POLICY_DENIED)))
    assert isinstance(again, IssuedCapability)
    assert again.replayed
    assert await live_under(superuser, world, "key-0") == [again.capability.digest]


async def test_c01_a_question_that_is_lost_is_asked_again(far_world: World, way: Forwarder) -> None:
    # given a request whose first answer, that of the facts, is lost
    ground = await far_world.allowed()
    way.answers_to_lose = 1
    assert not must(await far_world.issue(ground, "k", within_s=20.0)).replayed
    assert way.answers_to_lose == 0


async def test_c01_a_backend_killed_inside_the_call_is_asked_again_and_issues_once(
    world: World, superuser: Superuser
) -> None:
    ground = await world.allowed()
    async with gate(superuser, "capability") as closed:
        task = asyncio.create_task(world.issue(ground, "k", within_s=20.0))
        await closed.reached()
        # when its backend is killed, then it is asked again over another connection, and stands there again
        assert await superuser.fetchval(
            """
            select pg_terminate_backend(pid, 5000) from pg_stat_activity
            where application_name = 'authority_issue' and wait_event = 'advisory' and datname = current_database()
            """
        )
        await closed.reached()
        await closed.open()
        answer = must(await task)
    assert not answer.replayed
    assert await live_under(superuser, world, "k") == [answer.capability.digest]


async def test_a13_a_database_that_is_away_is_unavailable(world: World) -> None:
    [offer] = offers_like(world, await world.issued(key="example"), 1)
    settings = PoolSettings("postgresql://authority@127.0.0.1:1/nowhere", Power.ISSUE, most=1)
    away = Database(await connect_pool(settings))
    nowhere = gathering({Power.ISSUE: away}, world)
    assert await issued_by(nowhere, offer, within_s=0.3) == Refusal(Reason.DEPENDENCY_UNAVAILABLE)
    await away.close()
    assert reason_of(await issued_by(capabilities_of(world), offer)) is None
