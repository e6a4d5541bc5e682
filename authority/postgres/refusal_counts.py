"""Counts of refusals: many are added in one statement, and what is old goes whenever something new comes."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from authority.domain.tally import Counted
from authority.postgres.connections import Database
from authority.postgres.sql import query

_KEPT: Final = dt.timedelta(days=91)
"""A day longer than the row policy asks for, so that no two clocks' difference meets it."""
_FORGOTTEN_AT_ONCE: Final = 1_000


@dataclass(frozen=True, slots=True)
class PostgresRefusalCounts:
    """Implements `ports.RefusalCounts`."""

    database: Database

    async def add(self, counts: Mapping[Counted, int]) -> None:
        """Adds to what is counted already. Raises DependencyUnavailable, and then it may have been added."""
        tenants = {counted.tenant for counted in counts}
        # In one order for everybody, so that no two who add wait for each other.
        rows = sorted(
            (str(counted.tenant), counted.minute, str(counted.principal or ""), counted.reason, count)
            for counted, count in counts.items()
        )
        async with self.database.transaction(*tenants) as connection:
            await connection.execute(query("add_refusals"), *(list(column) for column in zip(*rows, strict=True)))
            await connection.execute(query("forget_refusals"), _KEPT, _FORGOTTEN_AT_ONCE)
