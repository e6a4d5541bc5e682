"""A way to the database that can lose an answer: the server has worked, and the client never hears of it."""

import asyncio
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit, urlunsplit


class Forwarder:
    """Forwards connections to the server of a URL; told to, it cuts one instead of handing over its next answer."""

    def __init__(self, server_url: str) -> None:
        self._parts = urlsplit(server_url)
        self._server: asyncio.Server | None = None
        self._ways: set[asyncio.Task[None]] = set()
        self.answers_to_pass = 0
        """How many answers are handed over before any is lost."""
        self.answers_to_lose = 0
        """How many answers will still be lost; each takes its connection with it."""

    @property
    def url(self) -> str:
        """The same database by this way."""
        assert self._server
        port = self._server.sockets[0].getsockname()[1]
        place = self._parts.netloc.rpartition("@")[0]
        return urlunsplit(self._parts._replace(netloc=f"{place}@127.0.0.1:{port}"))

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server
        self._server.close()
        for way in self._ways:
            way.cancel()
        await asyncio.gather(*self._ways, return_exceptions=True)

    async def _serve(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._ways.add(task)
        from_server, to_server = await asyncio.open_connection(self._parts.hostname, self._parts.port)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._carry(from_client, to_server, [to_client, to_server], answers=False))
                both.create_task(self._carry(from_server, to_client, [to_client, to_server], answers=True))
        finally:
            for writer in (to_client, to_server):
                writer.close()
            self._ways.discard(task)

    async def _carry(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        both: list[asyncio.StreamWriter],
        *,
        answers: bool,
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                if answers and self.answers_to_lose and not self.answers_to_pass:
                    self.answers_to_lose -= 1
                    break
                if answers and self.answers_to_pass:
                    self.answers_to_pass -= 1
                writer.write(data)
                await writer.drain()
        for one in both:
            one.close()
