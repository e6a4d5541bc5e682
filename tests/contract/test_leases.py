"""The port `Leases`: what every adapter keeps to."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import pytest

from authority.domain.plan import Claim
from authority.domain.references import PrincipalRef, TenantRef
from authority.embedded import ValkeyServer, start_valkey
from authority.inprocess.leases import InProcessLeases
from authority.usecases.ports import Leases, Sighting
from tests.redis_room import CLAIM, LEASE_MS, REPLAY_MS, SetClock, let_pass, operator_at, receipt_of, room_at

NOT_SEEN = Sighting(running_fingerprint=None, settled=None)
SECOND = 1_000
OTHER_REQUEST = replace(CLAIM, fingerprint=b"\x02" * 32)


@dataclass(frozen=True)
class World:
    """An adapter, and a way to let time pass for it."""

    leases: Leases
    passes: Callable[[int], Awaitable[None]]


LeasesOf: TypeAlias = Callable[[int], AbstractAsyncContextManager[World]]


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyServer]:
    with start_valkey(tmp_path_factory.mktemp("leases") / "data") as server:
        yield server


@asynccontextmanager
async def inprocess_leases(lease_ms: int) -> AsyncIterator[World]:
    """The adapter of the tests, by a clock that is set."""
    clock = SetClock()

    async def advance(milliseconds: int) -> None:
        clock.advance(milliseconds)

    yield World(InProcessLeases(clock, lease_ms=lease_ms, replay_ms=REPLAY_MS), advance)


@asynccontextmanager
async def redis_leases(url: str, lease_ms: int) -> AsyncIterator[World]:
    """The real adapter; what the test itself takes counts as time that passes."""
    async with room_at(url, lease_ms=lease_ms) as room, operator_at(url) as operator:
        began, passed_ms = time.monotonic(), 0

        async def pass_on(milliseconds: int) -> None:
            nonlocal began, passed_ms
            await room.link.flush()
            passed_ms += milliseconds
            missing = passed_ms - int((time.monotonic() - began) * 1_000)
            began -= missing / 1_000
            await let_pass(operator, missing)

        yield World(room.leases.leases, pass_on)
        assert room.link.health.failures == 0


@pytest.fixture(params=["inprocess", "redis"])
def leases_of(request: pytest.FixtureRequest) -> LeasesOf:
    """Makes an adapter whose leases live so many milliseconds."""
    if request.param == "inprocess":
        return inprocess_leases
    return partial(redis_leases, request.getfixturevalue("valkey").url)


@pytest.fixture
async def world(leases_of: LeasesOf) -> AsyncIterator[World]:
    async with leases_of(LEASE_MS) as world:
        yield world


async def test_a_key_never_used_is_not_seen(world: World) -> None:
    assert await world.leases.sight(CLAIM) == NOT_SEEN


async def test_a_taken_lease_is_seen_until_it_is_given_back(world: World) -> None:
    # given a lease taken
    world.leases.take(CLAIM, "token-a")
    assert await world.leases.sight(CLAIM) == Sighting(CLAIM.fingerprint, None)

    # when its owner settles without a receipt, then nothing is left of it
    world.leases.settle(CLAIM, "token-a", None)
    assert await world.leases.sight(CLAIM) == NOT_SEEN


async def test_a_settled_receipt_is_seen_whole_and_ends_the_lease(world: World) -> None:
    # given a lease, settled with a receipt
    world.leases.take(CLAIM, "token-a")
    world.leases.settle(CLAIM, "token-a", receipt_of(CLAIM))

    # then exactly that receipt is seen, byte for byte, as often as it is asked for
    assert await world.leases.sight(CLAIM) == Sighting(None, receipt_of(CLAIM))
    assert await world.leases.sight(CLAIM) == Sighting(None, receipt_of(CLAIM))


async def test_a_receipt_is_kept_also_by_who_held_no_lease(world: World) -> None:
    # given a lease of another call of the same key
    world.leases.take(CLAIM, "token-a")

    # when a call that never got it settles, then its receipt is kept, and the lease stays whose it is
    world.leases.settle(CLAIM, "token-b", receipt_of(CLAIM))
    assert await world.leases.sight(CLAIM) == Sighting(CLAIM.fingerprint, receipt_of(CLAIM))


async def test_a18_the_fingerprint_of_the_running_request_is_seen_by_another_request(world: World) -> None:
    # given a request that runs
    world.leases.take(CLAIM, "token-a")

    # when the same key comes with another fingerprint, then it sees the first one's, before any result exists
    assert await world.leases.sight(OTHER_REQUEST) == Sighting(CLAIM.fingerprint, None)

    # and cannot push the first one aside
    world.leases.take(OTHER_REQUEST, "token-b")
    assert await world.leases.sight(CLAIM) == Sighting(CLAIM.fingerprint, None)


async def test_b02_taking_again_with_the_same_token_is_still_ours_to_give_back(world: World) -> None:
    # given a lease taken by a call that did not hear of it, and took again
    world.leases.take(CLAIM, "token-a")
    world.leases.take(CLAIM, "token-a")

    # when it settles, then the lease is free at once, not after its life
    world.leases.settle(CLAIM, "token-a", None)
    assert await world.leases.sight(CLAIM) == NOT_SEEN


async def test_b03_a_lease_that_expired_under_its_holder_is_not_taken_from_the_next_one(world: World) -> None:
    # given a holder that paused past the life of its lease, and a second one
    world.leases.take(CLAIM, "token-a")
    await world.passes(LEASE_MS + SECOND)
    world.leases.take(OTHER_REQUEST, "token-b")

    # when the first one resumes and gives back, then the second still holds
    world.leases.settle(CLAIM, "token-a", None)
    assert await world.leases.sight(CLAIM) == Sighting(OTHER_REQUEST.fingerprint, None)


async def test_b03_the_token_alone_does_not_give_back_the_lease_of_another_request(world: World) -> None:
    # given a lease, when another request settles under the same token, then it stays
    world.leases.take(CLAIM, "token-a")
    world.leases.settle(OTHER_REQUEST, "token-a", None)
    assert await world.leases.sight(CLAIM) == Sighting(CLAIM.fingerprint, None)


async def test_a15_the_lease_of_a_killed_worker_holds_for_its_life_and_no_longer(world: World) -> None:
    # given a worker that took the lease and was killed
    world.leases.take(CLAIM, "token-a")

    # when a second has passed, then the key still runs
    await world.passes(1 * SECOND)
    assert await world.leases.sight(CLAIM) == Sighting(CLAIM.fingerprint, None)

    # when 31 seconds have passed, then another may take it
    await world.passes(30 * SECOND)
    assert await world.leases.sight(CLAIM) == NOT_SEEN
    world.leases.take(OTHER_REQUEST, "token-b")
    assert await world.leases.sight(CLAIM) == Sighting(OTHER_REQUEST.fingerprint, None)


@pytest.mark.parametrize("life_ms", [2_000, LEASE_MS, 3_600_000, 86_400_000])
async def test_a16_the_life_of_a_lease_is_meant_in_milliseconds(leases_of: LeasesOf, life_ms: int) -> None:
    async with leases_of(life_ms) as world:
        # given a lease, when all but a second of its life has passed, then it is held
        world.leases.take(CLAIM, "token-a")
        await world.passes(life_ms - SECOND)
        assert await world.leases.sight(CLAIM) == Sighting(CLAIM.fingerprint, None)

        # and a second after its life it is free
        await world.passes(2 * SECOND)
        assert await world.leases.sight(CLAIM) == NOT_SEEN


async def test_a17_a_cached_receipt_is_forgotten_after_its_life(world: World) -> None:
    # given a cached receipt, when all but a second of its life has passed, then it is seen
    world.leases.settle(CLAIM, "token-a", receipt_of(CLAIM))
    await world.passes(REPLAY_MS - SECOND)
    assert await world.leases.sight(CLAIM) == Sighting(None, receipt_of(CLAIM))

    # and a second after its life it is not: the database answers then
    await world.passes(2 * SECOND)
    assert await world.leases.sight(CLAIM) == NOT_SEEN


@pytest.mark.parametrize(
    "other",
    [
        replace(CLAIM, tenant=TenantRef("acme", "t2")),
        replace(CLAIM, tenant=TenantRef("acm", "et1")),
        replace(CLAIM, holder=PrincipalRef("acme", "reader")),
        replace(CLAIM, holder=PrincipalRef("acmew", "riter")),
        replace(CLAIM, idempotency_key="Key-1"),
        replace(CLAIM, holder=PrincipalRef("acme", "writerkey"), idempotency_key="-1"),
    ],
)
async def test_a12_another_tenant_holder_or_key_is_another_claim(world: World, other: Claim) -> None:
    # given a lease and a receipt under one claim
    world.leases.settle(CLAIM, "token-a", receipt_of(CLAIM))
    world.leases.take(CLAIM, "token-a")

    # then nothing of them is seen under another, bytes shifted between neighbouring parts included (case D11)
    assert await world.leases.sight(other) == NOT_SEEN


async def test_of_a_hundred_callers_one_holds_the_lease(world: World) -> None:
    # given a hundred callers that take one key's lease at the same time
    claims = [replace(CLAIM, fingerprint=bytes([number]) * 32) for number in range(100)]
    for number, claim in enumerate(claims):
        world.leases.take(claim, f"token-{number}")
    holder = (await world.leases.sight(CLAIM)).running_fingerprint
    assert holder is not None

    # when all others give back, then it is still the one's
    others = [(claim, f"token-{number}") for number, claim in enumerate(claims) if claim.fingerprint != holder]
    assert len(others) == 99
    for claim, token in others:
        world.leases.settle(claim, token, None)
    assert (await world.leases.sight(CLAIM)).running_fingerprint == holder
