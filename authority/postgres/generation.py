"""Which database the connections lead to: asked on each new one, before it is used for anything else."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from authority.postgres.sql import query
from authority.usecases.ports import DatabaseGeneration

if TYPE_CHECKING:
    import asyncpg

_log = structlog.get_logger(__name__)


def _nobody(_: DatabaseGeneration) -> None:
    """Listens to nothing."""


@dataclass(slots=True)
class GenerationWatch:
    """Knows the database by its newest connection, and tells `changed` when it is another one.

    A connection never outlives the server that it was made to. So whoever was answered on one has been so by the
    database that is known here, and not by one that took its place since.
    """

    current: DatabaseGeneration | None = None
    changed: Callable[[DatabaseGeneration], None] = _nobody

    async def look(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        """Asks the server of a new connection."""
        row = await connection.fetchrow(query("database_generation"))
        assert row is not None
        met = DatabaseGeneration(row["cluster"], row["incarnation"])
        if met == self.current:
            return
        if self.current is not None:
            _log.warning("database_restarted_or_replaced", incarnation=met.incarnation)
        self.current = met
        self.changed(met)
