"""How often a question is asked: once, unless the target could not judge it, or the step says to ask again."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from capability_authority_conformance.target.outcome import Outcome

__all__ = ["UNJUDGED", "Ask", "asked_until", "judged"]

Ask = Callable[[], Awaitable[Outcome]]

UNJUDGED: Final = frozenset({"DEPENDENCY_UNAVAILABLE", "OVERLOADED"})
"""What any call may meet at any point, and what says nothing of it: the target could not look, or had no room."""
_BUSY_S: Final = 10.0
_FIRST_PAUSE_S: Final = 0.05
_LONGEST_PAUSE_S: Final = 1.0


async def judged(ask: Ask, permitted: frozenset[str], note: Callable[[str], None]) -> Outcome:
    """Ask, and for up to 10 seconds again while the target does not judge, unless the case is about just that.

    `permitted` are the outcomes that the case names. Each reason for asking again is noted, for the report to tell.
    """
    outcome = await ask()
    if _is_judged(outcome, permitted):
        return outcome
    note(outcome.reason)
    return await asked_until(lambda answered: _is_judged(answered, permitted), ask, outcome, _BUSY_S)


async def asked_until(holds: Callable[[Outcome], bool], ask: Ask, outcome: Outcome, seconds: float) -> Outcome:
    """The first outcome of which it holds, `outcome` being the first; the last one once the time is over."""
    ends = time.monotonic() + seconds
    pause = _FIRST_PAUSE_S
    while not holds(outcome) and time.monotonic() < ends:
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE_S)
        outcome = await ask()
    return outcome


def _is_judged(outcome: Outcome, permitted: frozenset[str]) -> bool:
    return outcome.reason not in UNJUDGED or outcome.reason in permitted
