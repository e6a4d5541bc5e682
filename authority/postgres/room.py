"""What there is to know of the server: how many connections it lets the service have, and what time it has."""

from authority.domain.references import SECOND
from authority.postgres.connections import Database
from authority.postgres.sql import query
from authority.usecases.ports import Clock


async def connections_allowed(database: Database) -> int:
    """The most that the login of this database may open, if nobody else opens any.

    The least of what server, database and role allow.
    """
    row = await database.ask(query("connections_allowed"))
    assert row is not None
    allowed: int = row["allowed"]
    return allowed


async def clock_difference_s(database: Database, clock: Clock) -> float:
    """By how many seconds our clock is ahead of the server's, give or take half of what the question took."""
    before = clock.now()
    row = await database.ask(query("present_time"))
    assert row is not None
    return float((before + clock.now()) / 2 - row["present_time"]) / SECOND
