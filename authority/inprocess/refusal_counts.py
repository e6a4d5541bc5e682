"""The port `RefusalCounts`."""

from collections.abc import Mapping
from dataclasses import dataclass

from authority.domain.tally import Counted
from authority.inprocess.tables import Tables


@dataclass(frozen=True, slots=True)
class InProcessRefusalCounts:
    """Implements `ports.RefusalCounts`."""

    tables: Tables

    async def add(self, counts: Mapping[Counted, int]) -> None:
        """Adds to what is counted already."""
        self.tables.refusals.update(counts)
