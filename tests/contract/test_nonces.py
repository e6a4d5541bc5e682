"""The port `Nonces`: what every adapter keeps to."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass

import pytest

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.embedded import ValkeyServer, start_valkey
from authority.inprocess.nonces import InProcessNonces
from authority.usecases.ports import Nonces
from tests.redis_room import SetClock, let_pass, operator_at, room_at

REPLAYED = Refusal(Reason.PROOF_REPLAYED)
SECOND = 1_000


@dataclass(frozen=True)
class World:
    """An adapter, and a way to let time pass for it."""

    nonces: Nonces
    passes: Callable[[int], Awaitable[None]]


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyServer]:
    with start_valkey(tmp_path_factory.mktemp("nonces") / "data") as server:
        yield server


@pytest.fixture(params=["inprocess", "redis"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    if request.param == "inprocess":
        clock = SetClock()

        async def advance(milliseconds: int) -> None:
            clock.advance(milliseconds)

        yield World(InProcessNonces(clock), advance)
        return
    url = request.getfixturevalue("valkey").url
    async with room_at(url) as room, operator_at(url) as operator:
        yield World(room.nonces, lambda milliseconds: let_pass(operator, milliseconds))
        assert room.link.health.failures == 0


async def test_i03_a_nonce_works_once(world: World) -> None:
    assert await world.nonces.use("key-a", b"nonce") is None
    assert await world.nonces.use("key-a", b"nonce") == REPLAYED
    assert await world.nonces.use("key-a", b"nonce") == REPLAYED


@pytest.mark.parametrize(("key_id", "nonce"), [("key-a", b"other"), ("key-b", b"nonce"), ("key-an", b"once")])
async def test_nonces_of_other_keys_and_other_nonces_do_not_matter(world: World, key_id: str, nonce: bytes) -> None:
    # given a nonce used, then another one is free, bytes shifted between key and nonce included (case D11)
    assert await world.nonces.use("key-a", b"nonce") is None
    assert await world.nonces.use(key_id, nonce) is None


async def test_a16_a_nonce_is_remembered_for_as_long_as_its_proof_can_be_fresh(world: World) -> None:
    # given a nonce used; its proof is fresh for 60 s, and 30 s longer when its clock is ahead
    assert await world.nonces.use("key-a", b"nonce") is None

    # when 89 s have passed, then it is remembered
    await world.passes(89 * SECOND)
    assert await world.nonces.use("key-a", b"nonce") == REPLAYED

    # and after 91 s it is not: trying did not prolong it
    await world.passes(2 * SECOND)
    assert await world.nonces.use("key-a", b"nonce") is None


async def test_of_a_hundred_callers_with_one_nonce_one_passes(world: World) -> None:
    answers = await asyncio.gather(*(world.nonces.use("key-a", b"nonce") for _ in range(100)))
    assert answers.count(None) == 1
    assert answers.count(REPLAYED) == 99
