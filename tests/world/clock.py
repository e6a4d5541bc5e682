"""Time and ids that tests decide on."""

from dataclasses import dataclass, field
from itertools import count
from uuid import UUID

from authority.domain.references import Instant, after

BEGINNING = Instant(1_800_000_000_000)


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
