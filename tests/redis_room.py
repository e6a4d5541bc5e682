"""What the tests of leases and nonces share: a clock that is set, values, links, and a way between link and server."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

from redis.asyncio import Redis

from authority.domain.plan import Claim, StoredReceipt
from authority.domain.references import Instant, PrincipalRef, TenantRef, after
from authority.domain.statement import Statement
from authority.redis.connection import connect
from authority.redis.leases import RedisLeases
from authority.redis.link import LinkSettings, RedisLink
from authority.redis.names import KeyNames
from authority.redis.nonces import RedisNonces
from authority.usecases.ports import DatabaseGeneration, Sighting

LEASE_MS = 30_000
REPLAY_MS = 7_200_000
PATIENT = LinkSettings(wait_ms=5_000)
"""A busy machine is not taken for a server that hangs; for tests in which none does."""
LEASE_TAKEN = re.compile(rb"SET\r\n\$\d+\r\n[^\r]*:lease:")
NONCE_USED = re.compile(rb"SET\r\n\$\d+\r\n[^\r]*:nonce:")
"""Commands as they go over the wire."""
CLAIM = Claim(TenantRef("acme", "t1"), PrincipalRef("acme", "writer"), "key-1", b"\x01" * 32)


class SetClock:
    """Shows what it is set to."""

    def __init__(self) -> None:
        self.instant = Instant(1_800_000_000_000)

    def now(self) -> Instant:
        return self.instant

    def advance(self, milliseconds: int) -> None:
        self.instant = after(self.instant, milliseconds)

    def seconds(self) -> float:
        """The same as a monotonic clock shows it."""
        return self.instant / 1_000


def receipt_of(claim: Claim) -> StoredReceipt:
    """A receipt that differs in every part from that of another claim; its bytes are any bytes."""
    name = claim.idempotency_key
    statement = Statement(f"type of {name}", b"\x00\xff payload of " + name.encode(), f"key of {name}", b"\xfe" * 64)
    return StoredReceipt(f"receipt of {name}", f"record of {name}", statement, claim.fingerprint)


def numbered(claim: Claim, count: int) -> list[Claim]:
    """So many claims that differ in their key alone."""
    return [replace(claim, idempotency_key=f"{claim.idempotency_key}.{number}") for number in range(count)]


class Gate:
    """Stands in for the pause before Redis is met again: it lasts until the test opens the gate, not some seconds."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        await self._open.wait()
        # A server that is not back yet is asked again and again, but not without end in one turn of the loop.
        await asyncio.sleep(0.01)

    def open(self) -> None:
        self._open.set()


@dataclass(frozen=True)
class HeardLeases:
    """The leases of a process, with every telling waited for: a test looks at the server next."""

    leases: RedisLeases
    link: RedisLink

    async def sight(self, claim: Claim) -> Sighting:
        return await self.leases.sight(claim)

    async def take(self, claim: Claim, token: str) -> None:
        self.leases.take(claim, token)
        await self.link.flush()

    async def settle(self, claim: Claim, token: str, receipt: StoredReceipt | None) -> None:
        self.leases.settle(claim, token, receipt)
        await self.link.flush()


@dataclass(frozen=True)
class Room:
    """One process' view of a Redis server, and a way of its own to look at the keys."""

    link: RedisLink
    names: KeyNames
    leases: HeardLeases
    nonces: RedisNonces
    gate: Gate
    clock: SetClock

    async def recovers(self) -> None:
        """Lets the pause end, and waits until Redis is used again."""
        self.gate.open()
        await eventually(lambda: self.link.health.available)


@asynccontextmanager
async def room_at(
    url: str,
    *,
    settings: LinkSettings = PATIENT,
    generation: DatabaseGeneration | None = None,
    lease_ms: int = LEASE_MS,
) -> AsyncIterator[Room]:
    """A room whose keys are those of a database of its own unless one is given."""
    clock, gate, names = SetClock(), Gate(), KeyNames(generation or DatabaseGeneration(uuid4().hex, "1"))
    link = RedisLink(connect(url), names, clock, settings, pause=gate)
    leases = RedisLeases(link, names, lease_ms=lease_ms, replay_ms=REPLAY_MS, now=clock.seconds)
    try:
        yield Room(link, names, HeardLeases(leases, link), RedisNonces(link, names), gate, clock)
    finally:
        await link.aclose()


@asynccontextmanager
async def operator_at(url: str) -> AsyncIterator[Redis]:
    """A plain client, for what an operator or a neighbour does to the server."""
    client = connect(url)
    try:
        yield client
    finally:
        await client.aclose()


async def let_pass(operator: Redis, milliseconds: int) -> None:
    """Brings every expiry on the server nearer by so much, as if that time had passed."""
    async for key in operator.scan_iter():
        left = await operator.pttl(key)
        if left >= 0:
            await operator.pexpire(key, left - milliseconds)


async def eventually(condition: Callable[[], bool], within_s: float = 20.0) -> None:
    """Returns as soon as the condition holds; fails when that takes too long."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "did not come about in time"
        await asyncio.sleep(0.005)


class Forwarder:
    """An address that stays while the server behind it changes, as a failover makes it."""

    def __init__(self, server_url: str) -> None:
        self.server_url = server_url
        self.open_connections = 0
        self.loses_reply_to: re.Pattern[bytes] | None = None
        """Once set, the next such request reaches the server, and its connection is cut when the reply comes."""
        self.lost_replies = 0
        self._cut_at_reply: set[asyncio.StreamReader] = set()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        assert self._server
        parts = urlsplit(self.server_url)
        port = self._server.sockets[0].getsockname()[1]
        return urlunsplit(parts._replace(netloc=f":{parts.password}@127.0.0.1:{port}"))

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server
        self._server.close()
        await eventually(lambda: self.open_connections == 0)

    async def _serve(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        try:
            from_server, to_server = await asyncio.open_connection("127.0.0.1", urlsplit(self.server_url).port)
        except OSError:
            to_client.transport.abort()
            return
        self.open_connections += 1
        ways = [
            asyncio.create_task(self._carry_requests(from_client, to_server, from_server)),
            asyncio.create_task(self._carry_replies(from_server, to_client)),
        ]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        for writer in (to_client, to_server):
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
        self.open_connections -= 1

    async def _carry_requests(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, replies: asyncio.StreamReader
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                if self.loses_reply_to and self.loses_reply_to.search(data):
                    self.loses_reply_to = None
                    self._cut_at_reply.add(replies)
                writer.write(data)
                await writer.drain()

    async def _carry_replies(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                if reader in self._cut_at_reply:
                    self._cut_at_reply.remove(reader)
                    self.lost_replies += 1
                    return
                writer.write(data)
                await writer.drain()
