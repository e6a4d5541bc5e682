"""How long the keys of an issuer are kept, and how often they are asked for."""

import asyncio
import contextlib
import threading

import pytest

from authority.tokens.beside import beside
from authority.tokens.cached_keys import CachedKeys, CacheTimes
from authority.tokens.sources import SourceAway
from authority.usecases.ports import DependencyUnavailable
from tests.world.clock import BEGINNING
from tests.world.token_issuers import KID, TestIssuer, jwk_of, key_set, new_key

TIMES = CacheTimes(refresh=100, most=1_000, interval=10)


class Issuer(TestIssuer):
    """One that may be away, and holds answers back when it is told to."""

    def __init__(self) -> None:
        super().__init__(BEGINNING)
        self.is_away = False
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.seconds = 0.0
        self.keys = CachedKeys(self.trusted(), TIMES, lambda: self.seconds)

    def read(self) -> bytes:
        """What is published, unless it is away."""
        published = super().read()
        assert self.may_answer.wait(30)
        if self.is_away:
            raise SourceAway("away")
        return published

    async def knows(self, kid: str = KID) -> bool:
        """Whether it has this key now."""
        return await self.keys.key(kid) is not None

    async def settle(self) -> None:
        """Waits for a read in the background."""
        await asyncio.gather(*(task for task in asyncio.all_tasks() if task.get_name() == "read token keys"))


async def test_keys_are_read_once_for_all_who_wait() -> None:
    issuer = Issuer()
    issuer.may_answer.clear()
    asking = [asyncio.create_task(issuer.knows()) for _ in range(20)]
    await asyncio.sleep(0)
    issuer.may_answer.set()
    assert await asyncio.gather(*asking) == [True] * 20
    assert issuer.reads == 1


async def test_a_caller_that_gives_up_leaves_the_read_to_the_others() -> None:
    # given two who wait for one read, when one is cancelled, then the other gets its answer
    issuer = Issuer()
    issuer.may_answer.clear()
    gone, waits = asyncio.create_task(issuer.knows()), asyncio.create_task(issuer.knows())
    await asyncio.sleep(0)
    gone.cancel()
    issuer.may_answer.set()
    assert await waits
    assert issuer.reads == 1


async def test_a_key_id_that_nobody_knows_costs_one_read_in_an_interval() -> None:
    issuer = Issuer()
    assert await issuer.knows()
    for number in range(50):
        assert not await issuer.knows(f"made up {number}")
    assert issuer.reads == 1
    # when the interval is over, then one more is read, by which a new key is known at once
    issuer.published = key_set(jwk_of(issuer.key), jwk_of(new_key(), kid="new"))
    assert not await issuer.knows("new")
    issuer.seconds = 10
    assert await issuer.knows("new")
    for number in range(50):
        assert not await issuer.knows(f"made up {number}")
    assert issuer.reads == 2


async def test_keys_are_read_again_in_the_background_and_a_withdrawn_one_goes() -> None:
    issuer = Issuer()
    assert await issuer.knows()
    issuer.published, issuer.seconds = key_set(jwk_of(new_key(), kid="other")), 101
    issuer.may_answer.clear()
    assert await issuer.knows(), "nobody waits for the read"
    issuer.may_answer.set()
    await issuer.settle()
    assert not await issuer.knows()
    assert await issuer.knows("other")


async def test_an_issuer_that_is_away_is_believed_for_a_while_and_then_not() -> None:
    issuer = Issuer()
    assert await issuer.knows()
    issuer.is_away, issuer.seconds = True, 999
    assert await issuer.knows()
    await issuer.settle()
    issuer.seconds = 1_001
    with pytest.raises(DependencyUnavailable):
        await issuer.knows()
    # and nobody makes it read more often
    reads = issuer.reads
    for _ in range(10):
        with pytest.raises(DependencyUnavailable):
            await issuer.knows()
    assert issuer.reads == reads
    # when it is back, then keys are had again after the interval
    issuer.is_away, issuer.seconds = False, 1_020
    assert await issuer.knows()


async def test_a_source_that_hangs_keeps_nobody_from_ending() -> None:
    # given a read that hangs, when everybody has gone, then its thread is no reason to stay, and its answer is nobody's
    hangs = threading.Event()
    asking = asyncio.create_task(beside(hangs.wait))
    await asyncio.sleep(0)
    (thread,) = (one for one in threading.enumerate() if one.name == "beside the loop")
    assert thread.daemon
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    hangs.set()
    thread.join(30)
    assert not thread.is_alive()


async def test_an_issuer_that_never_comes_to_an_end_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    # given an issuer that drips, so that each read is given up while its thread goes on
    monkeypatch.setattr("authority.tokens.cached_keys.WITHIN_S", -0.99)
    issuer = Issuer()
    issuer.may_answer.clear()
    for seconds in (0, 20, 40):
        # when it is asked for long enough after the last time, then its keys cannot be had, and no thread is added
        issuer.seconds = seconds
        with pytest.raises(DependencyUnavailable):
            await issuer.knows()
        assert issuer.reads == 1
    # when that thread has ended, then it is read again
    monkeypatch.undo()
    issuer.may_answer.set()
    async with asyncio.timeout(30):
        while issuer.reads == 1:
            issuer.seconds += 20
            with contextlib.suppress(DependencyUnavailable):
                await issuer.knows()
            await asyncio.sleep(0)
    assert await issuer.knows()


async def test_closing_ends_the_read_that_is_under_way() -> None:
    issuer = Issuer()
    issuer.may_answer.clear()
    asking = asyncio.create_task(issuer.knows())
    await asyncio.sleep(0)
    await issuer.keys.close()
    issuer.may_answer.set()
    with pytest.raises((asyncio.CancelledError, DependencyUnavailable)):
        await asking


@pytest.mark.parametrize(
    "jwk",
    [
        {"kid": None},
        {"kid": ""},
        {"kid": 7},
        {"use": "enc"},
        {"key_ops": ["sign"]},
        {"key_ops": "verify"},
        {"alg": "ES384"},
        {"alg": "HS256"},
        {"alg": "none"},
        {"kty": "oct", "k": "c2VjcmV0"},
        {"kty": "RSA"},
        {"crv": "P-384"},
        {"crv": "secp256k1"},
        {"x": "AA"},
        {"x": None},
        {"d": "AA"},
    ],
)
async def test_e06_a_key_that_is_for_something_else_is_left_out(jwk: dict[str, object]) -> None:
    issuer = Issuer()
    issuer.published = key_set(jwk_of(issuer.key, **jwk), jwk_of(issuer.key, kid="good"))
    assert await issuer.knows("good")
    assert not await issuer.knows()


async def test_two_keys_of_one_id_are_none() -> None:
    issuer = Issuer()
    issuer.published = key_set(jwk_of(issuer.key), jwk_of(new_key()), jwk_of(new_key(), kid="good"))
    assert await issuer.knows("good")
    assert not await issuer.knows()


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"{}", b'{"keys": {}}', b"\xff", b"[" * 100_000, key_set(*[jwk_of(new_key())] * 65)]
)
async def test_what_is_no_key_set_is_no_keys(text: bytes) -> None:
    issuer = Issuer()
    issuer.published = text
    with pytest.raises(DependencyUnavailable):
        await issuer.knows()
