"""How long anything may take, whatever its caller allows (semantics §10, case F04)."""

import asyncio
import math
from dataclasses import dataclass

from authority.rpc.current_call import Context


@dataclass(frozen=True, slots=True)
class Bounds:
    """`cap` and `margin` are seconds: nothing takes longer than the cap, and is ready by the margin before that."""

    cap: float
    margin: float

    def deadline(self, call_ends: float) -> float:
        """By when the answer to what begins now must be ready, when its call ends then. Both are event loop time."""
        now = asyncio.get_running_loop().time()
        return max(min(call_ends, now + self.cap) - self.margin, now)


def end_of(context: Context) -> float:
    """When the caller gives the call up, in event loop time; infinite when it never does."""
    remaining: float | None = context.time_remaining()
    return math.inf if remaining is None else asyncio.get_running_loop().time() + remaining
