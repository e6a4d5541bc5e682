"""The keys of one token issuer, kept for a bounded time and read again beside the calls that need them."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import structlog

from authority.tokens.beside import beside
from authority.tokens.issuers import TokenIssuer
from authority.tokens.key_set import KeySetWrong, TokenKey, read_key_set
from authority.tokens.sources import WITHIN_S, SourceAway
from authority.usecases.ports import DependencyUnavailable

_log = structlog.get_logger(__name__)

_MARGIN_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheTimes:
    """Seconds."""

    refresh: float = 300.0
    """After this the keys are read again in the background; a revoked one verifies until then."""
    most: float = 3_600.0
    """Older ones verify nothing: the issuer may have revoked them long since."""
    interval: float = 30.0
    """Between two attempts, whoever asks: a token with a key id that nobody knows costs one read in it."""


class CachedKeys:
    """Belongs to one event loop. Reading happens in a thread, one at a time, also when it was given up."""

    def __init__(
        self,
        issuer: TokenIssuer,
        times: CacheTimes | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._issuer = issuer
        self._times = times or CacheTimes()
        self._now = now
        self._keys: Mapping[str, TokenKey] | None = None
        self._read_at = self._tried_at = -float("inf")
        self._reading: asyncio.Task[None] | None = None
        self._is_asking = False

    async def key(self, kid: str) -> TokenKey | None:
        """The key of this id, None when the issuer has none. Raises DependencyUnavailable without fresh enough keys."""
        if self._age() > self._times.most:
            await self._read_again()
        elif self._age() > self._times.refresh:
            self._begin_reading()
        keys = self._fresh()
        if kid not in keys:
            await self._read_again()
            keys = self._fresh()
        return keys.get(kid)

    async def close(self) -> None:
        """Ends a read that is under way; its thread ends within the time that a source has."""
        if self._reading:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    def _age(self) -> float:
        return self._now() - self._read_at

    def _fresh(self) -> Mapping[str, TokenKey]:
        if self._keys is None or self._age() > self._times.most:
            raise DependencyUnavailable("the keys of a token issuer cannot be had")
        return self._keys

    async def _read_again(self) -> None:
        """Has them read, unless that was tried a moment ago. A caller that gives up leaves the read to the others."""
        self._begin_reading()
        if self._reading and not self._reading.done():
            await asyncio.shield(self._reading)

    def _begin_reading(self) -> None:
        is_reading = self._reading is not None and not self._reading.done()
        if is_reading or self._is_asking or self._now() - self._tried_at < self._times.interval:
            return
        self._tried_at = self._now()
        self._reading = asyncio.create_task(self._read(), name="read token keys")

    async def _read(self) -> None:
        """Keeps what it has when the source is away, until that is too old."""
        began, issuer = self._now(), self._issuer
        try:
            async with asyncio.timeout(WITHIN_S + _MARGIN_S):
                data = await beside(self._ask)
            self._keys, self._read_at = read_key_set(data, issuer.algorithms), began
        except (SourceAway, KeySetWrong) as error:
            _log.warning("token keys not read", issuer=issuer.issuer, place=issuer.keys.place, why=str(error))
        except Exception as error:  # noqa: BLE001 - nobody waits for this task's fault; the next attempt may fare better
            _log.warning("token keys not read", issuer=issuer.issuer, error=type(error).__name__)

    def _ask(self) -> bytes:
        """In a thread, of which there is one: an issuer that keeps it for ever, byte by byte, gets no second."""
        self._is_asking = True
        try:
            return self._issuer.keys.read()
        finally:
            self._is_asking = False
