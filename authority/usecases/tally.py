"""Counts refusals, replays and conflicts in memory, and has them kept every few seconds (semantics §9)."""

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Final

from authority.domain.identity import Caller
from authority.domain.tally import Counted, minute_of
from authority.usecases.ports import Clock, Contention, DependencyUnavailable, RefusalCounts

_TOLD_APART: Final = 4_096
"""Counts of principals that are held at once; those of further ones are added up for each tenant and reason."""
_HELD: Final = 2 * _TOLD_APART
"""Counts that are held at all: while the database is away for long, further ones are lost."""


@dataclass(slots=True)
class Tally:
    """One for each process. A crash loses what was counted since the last `flush`.

    Callers are authenticated: who is not registered is counted nowhere here, however many there are (case G16).
    """

    counts: RefusalCounts
    clock: Clock
    _held: Counter[Counted] = field(default_factory=Counter)

    def count(self, caller: Caller, reason: str) -> None:
        """One more for the caller. `reason` is the name of a `Reason`, or `REPLAYED`."""
        counted = Counted(caller.tenant, minute_of(self.clock.now()), caller.ref, reason)
        if counted not in self._held and len(self._held) >= _TOLD_APART:
            counted = replace(counted, principal=None)
            if counted not in self._held and len(self._held) >= _HELD:
                return
        self._held[counted] += 1

    async def flush(self) -> None:
        """Has everything kept that was counted; while that fails it is held on to.

        When the answer is lost it may have been kept, and is then kept twice: these are counts, not receipts.
        """
        held, self._held = self._held, Counter()
        if not held:
            return
        try:
            await self.counts.add(held)
        except (DependencyUnavailable, Contention):
            self._held.update(held)
        except BaseException:
            self._held.update(held)
            raise
