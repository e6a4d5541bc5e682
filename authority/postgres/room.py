"""What there is to know of the database: how many connections it lets the service have, its time, and its schema."""

from importlib import resources

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


def known_migrations() -> list[str]:
    """The ids of the migrations of this version, in order."""
    files = resources.files(__package__).joinpath("migrations").iterdir()
    return sorted(file.name.removesuffix(".sql") for file in files if file.name.endswith(".sql"))


async def migrations_missing(database: Database) -> list[str]:
    """Those of this version that were never applied; the last, where it cannot be read, as earlier versions left it."""
    row = await database.ask(query("is_migrated"))
    assert row is not None
    if not row["readable"]:
        return known_migrations()[-1:]
    applied = {found["migration_id"] for found in await database.ask_all(query("applied_migrations"))}
    return [name for name in known_migrations() if name not in applied]
