"""Commits that stand still inside the database: for `authority demo --kill`, on an authority that is thrown away."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import asyncpg

from authority.postgres.sql import query


@dataclass(frozen=True, slots=True)
class Standstill:
    """Every commit stands still where it writes its event: receipt and record are written, and nothing is committed."""

    connection: "asyncpg.Connection[asyncpg.Record]"

    async def standing(self) -> list[int]:
        """The process ids of the database's backends that stand there."""
        return [row["pid"] for row in await self.connection.fetch(query("standing_still"))]

    async def go_on(self) -> None:
        """Lets them all go on."""
        await self.connection.execute(query("let_go_on"))

    async def break_off(self) -> None:
        """Ends them: what they began is undone."""
        for pid in await self.standing():
            await self.connection.fetchval(query("break_off"), pid)


@contextlib.asynccontextmanager
async def standing_still(admin_url: str) -> AsyncIterator[Standstill]:
    """Has commits stand still for as long as the block lasts. Changes the schema meanwhile: never on a real database.

    Raises OSError, asyncpg.PostgresError.
    """
    connection = await asyncpg.connect(admin_url, timeout=10.0)
    try:
        await connection.execute(query("make_standstill"))
        try:
            yield Standstill(connection)
        finally:
            await connection.execute(query("end_standstill"))
    finally:
        await connection.close()
