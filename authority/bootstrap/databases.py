"""The pools of one process: one for each power over the database."""

import contextlib
from dataclasses import dataclass

from authority.bootstrap.connections import pool_sizes
from authority.config import Settings
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.postgres.generation import GenerationWatch


@dataclass(frozen=True, slots=True)
class Databases:
    """The one database, by what each pool of connections may do there."""

    commit: Database
    propose: Database
    issue: Database
    read: Database

    def by_power(self) -> dict[Power, Database]:
        """Each by the role that it takes on."""
        return {Power.COMMIT: self.commit, Power.PROPOSE: self.propose, Power.ISSUE: self.issue, Power.READ: self.read}


async def open_databases(stack: contextlib.AsyncExitStack, settings: Settings, watch: GenerationWatch) -> Databases:
    """All four, closed when the stack is. Raises OSError or asyncpg.PostgresError when PostgreSQL is away."""
    most = pool_sizes(settings)

    async def opened(power: Power) -> Database:
        # Every call begins by reading who calls: before that it is known which database answers.
        look = watch.look if power is Power.READ else None
        url = settings.database_url.get_secret_value()
        database = Database(await connect_pool(PoolSettings(url, power, most[power], look=look)))
        stack.push_async_callback(database.close)
        return database

    return Databases(
        commit=await opened(Power.COMMIT),
        propose=await opened(Power.PROPOSE),
        issue=await opened(Power.ISSUE),
        read=await opened(Power.READ),
    )
