"""Time and ids that tests decide on."""

from dataclasses import dataclass, field
from itertools import count
from uuid import UUID

from authority.domain.references import Instant, after

BEGINNING = Instant(1_700_000_000_000)
"""In 2023, earlier than any database's own time: so this clock is never ahead."""
LATE = Instant(4_000_000_000_000)
"""In 2096, later than any database's own time: what is of then is never old to it."""


@dataclass(slots=True)
class SetClock:
    """Shows what it is set to."""

    instant: Instant = BEGINNING

    def now(self) -> Instant:
        """The instant."""
        return self.instant

    def advance(self, milliseconds: int) -> None:
        """Lets time pass."""
        self.instant = after(self.instant, milliseconds)


@dataclass(frozen=True, slots=True)
class NumberedIds:
    """The same ids in every run, each later than the one before: what is made later stands later on a page."""

    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def new(self) -> str:
        """The next id."""
        return str(UUID(int=next(self._numbers) << 96))
