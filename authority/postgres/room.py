"""How many connections PostgreSQL lets the service have."""

from authority.postgres.connections import Database
from authority.postgres.sql import query


async def connections_allowed(database: Database) -> int:
    """The most that the login of this database may open, if nobody else opens any.

    The least of what server, database and role allow.
    """
    row = await database.ask(query("connections_allowed"))
    assert row is not None
    allowed: int = row["allowed"]
    return allowed
