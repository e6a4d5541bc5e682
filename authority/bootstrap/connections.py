"""How many connections to PostgreSQL the service opens at most, over all its workers, and whether it will get them."""

from collections.abc import Mapping
from typing import Final

from authority.config import Settings
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.postgres.room import connections_allowed

_LEAST_EACH: Final = 2
"""One call is under way while the next is gathered."""
_SHARED: Final = ("commit_connections", "connections")


def pool_sizes(settings: Settings) -> Mapping[Power, int]:
    """The most connections of each power that one process opens; they are opened as they are needed."""
    return {
        # One more wakes the relay, and is in no commit's way.
        Power.COMMIT: settings.commit_connections + 1,
        Power.PROPOSE: settings.connections,
        Power.ISSUE: settings.connections,
        Power.READ: settings.connections,
    }


def shared_out(settings: Settings) -> Settings:
    """The settings of one of so many workers: together they want about as many connections as a single process does.

    What the operator has set stays as it is, and counts for each worker.
    """
    unset = [name for name in _SHARED if name not in settings.model_fields_set]
    return settings.model_copy(
        update={name: max(_LEAST_EACH, getattr(settings, name) // settings.workers) for name in unset}
    )


def most_connections(settings: Settings) -> int:
    """What all workers open at most, each by these settings, with the one that comes early when one is replaced."""
    return (settings.workers + 1) * sum(pool_sizes(settings).values())


async def connections_missing(settings: Settings) -> str | None:
    """A sentence for the operator when PostgreSQL does not let in as many as the workers may open; None when it does.

    Raises what `connect_pool` does when the database cannot be used.
    """
    url = settings.database_url.get_secret_value()
    database = Database(await connect_pool(PoolSettings(url, Power.READ, most=1)))
    try:
        allowed = await connections_allowed(database)
    finally:
        await database.close()
    most = most_connections(settings)
    if allowed >= most:
        return None
    return (
        f"{settings.workers} workers may open {most} connections, one more worker while one is replaced included, and"
        f" PostgreSQL lets in {allowed}: calls beyond that would answer DEPENDENCY_UNAVAILABLE. Raise max_connections,"
        " or lower AUTHORITY_WORKERS, AUTHORITY_CONNECTIONS or AUTHORITY_COMMIT_CONNECTIONS."
    )
