"""A way between the service and one of its servers on which bytes can be held up, and which can be cut."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit, urlunsplit

_APPLICATION_NAME: Final = re.compile(rb"application_name\x00([^\x00]+)\x00")
COMMIT: Final = "authority_commit"
"""How the service's committing connections name themselves to PostgreSQL."""
ISSUE: Final = "authority_issue"
"""And those that issue."""


@dataclass(eq=False)
class _Direction:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    is_request: bool
    held_bytes: int = 0


@dataclass(eq=False)
class _Connection:
    requests: _Direction
    replies: _Direction
    name: str = ""
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def abort(self) -> None:
        for direction in (self.requests, self.replies):
            direction.writer.transport.abort()
        for task in self.tasks:
            task.cancel()


class Proxy:
    """Carries bytes both ways. PostgreSQL's connections are told apart by their application name, others have none."""

    def __init__(self, server_url: str) -> None:
        self.server_url = server_url
        self._server_port = int(urlsplit(server_url).port or 0)
        self._connections: set[_Connection] = set()
        self._held: dict[bool, str | None] = {True: None, False: None}
        self._passing = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._is_shut = False

    @property
    def url(self) -> str:
        """The server's URL, by way of here."""
        assert self._server is not None
        parts = urlsplit(self.server_url)
        credentials, at, _ = parts.netloc.rpartition("@")
        port = self._server.sockets[0].getsockname()[1]
        return urlunsplit(parts._replace(netloc=f"{credentials}{at}127.0.0.1:{port}"))

    def hold_requests(self, name: str = "") -> None:
        """From now on no byte reaches the server on connections of this name."""
        self._held[True] = name

    def hold_replies(self, name: str = "") -> None:
        """From now on no byte of the server comes back on connections of this name."""
        self._held[False] = name

    @property
    def held_requests(self) -> int:
        """How many bytes are on their way to the server and held up."""
        return sum(connection.requests.held_bytes for connection in self._connections)

    @property
    def held_replies(self) -> int:
        """How many bytes are on their way back and held up."""
        return sum(connection.replies.held_bytes for connection in self._connections)

    async def let_pass(self) -> None:
        """Everything moves again, first what was held up."""
        async with self._passing:
            self._held = {True: None, False: None}
            self._passing.notify_all()

    def cut(self, name: str | None = None) -> None:
        """Breaks the connections of this name, or all; what was held up on them is lost, new ones are as always."""
        for connection in [one for one in self._connections if name in (None, one.name)]:
            connection.abort()
            self._connections.discard(connection)

    def shut(self) -> None:
        """Breaks all connections and every new one at once, as if nobody were there."""
        self._is_shut = True
        self.cut()

    def open(self) -> None:
        """Takes connections again."""
        self._is_shut = False

    async def _begin(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def _end(self) -> None:
        assert self._server is not None
        self._server.close()
        self.shut()
        await self._server.wait_closed()

    async def _serve(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        if self._is_shut:
            to_client.transport.abort()
            return
        try:
            from_server, to_server = await asyncio.open_connection("127.0.0.1", self._server_port)
        except OSError:
            to_client.transport.abort()
            return
        connection = _Connection(
            _Direction(from_client, to_server, is_request=True), _Direction(from_server, to_client, is_request=False)
        )
        self._connections.add(connection)
        connection.tasks = [
            asyncio.create_task(self._carry(connection, direction))
            for direction in (connection.requests, connection.replies)
        ]
        await asyncio.wait(connection.tasks, return_when=asyncio.FIRST_COMPLETED)
        connection.abort()
        self._connections.discard(connection)

    async def _carry(self, connection: _Connection, direction: _Direction) -> None:
        with suppress(OSError):
            while data := await direction.reader.read(65_536):
                if direction.is_request and not connection.name:
                    found = _APPLICATION_NAME.search(data)
                    connection.name = found[1].decode() if found else ""
                await self._wait_while_held(connection, direction, len(data))
                direction.writer.write(data)
                await direction.writer.drain()

    async def _wait_while_held(self, connection: _Connection, direction: _Direction, size: int) -> None:
        if self._held[direction.is_request] != connection.name:
            return
        direction.held_bytes = size
        async with self._passing:
            await self._passing.wait_for(lambda: self._held[direction.is_request] != connection.name)
        direction.held_bytes = 0


@asynccontextmanager
async def proxy_to(server_url: str) -> AsyncIterator[Proxy]:
    """A way to the server of this URL."""
    proxy = Proxy(server_url)
    await proxy._begin()  # noqa: SLF001 - its life is this block
    try:
        yield proxy
    finally:
        await proxy._end()  # noqa: SLF001
