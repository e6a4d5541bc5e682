"""Where validators run that take time: in threads beside the event loop, few at once, each within its limit."""

import asyncio
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

Value = TypeVar("Value")

AT_ONCE: Final = 2
"""Threads at work at once: more would only take the interpreter away from commits."""
STUCK: Final = 2
"""Threads of one validator that may have run over their limit and not ended: until one does, it is not asked again."""


_own: Final = threading.local()
"""Of each of these threads: until when, by the monotonic clock, somebody waits for it."""


def require_time() -> None:
    """Raises TimeoutError in a thread of these that is over its limit: what works in parts asks before each of them."""
    if time.monotonic() > getattr(_own, "until", float("inf")):
        raise TimeoutError


class Threads:
    """Runs what may hang. A thread cannot be ended from outside, so that one over its limit is left and counted.

    What is built in ends by itself soon after (`require_time`).

    They are daemons: one that never ends does not keep the process from ending either.
    """

    def __init__(self, at_once: int = AT_ONCE, stuck: int = STUCK) -> None:
        self._places = asyncio.Semaphore(at_once)
        self._most_stuck = stuck
        self._left: Counter[str] = Counter()

    async def run(self, name: str, work: Callable[[], Value], limit_s: float) -> Value:
        """What the work returns; the wait for a place does not count. Raises what it raises, and TimeoutError.

        Who is cancelled meanwhile leaves the thread behind as one over its limit.
        """
        async with self._places:
            if self._left[name] >= self._most_stuck:
                raise TimeoutError
            outcome: asyncio.Future[Value] = asyncio.get_running_loop().create_future()
            self._left[name] += 1
            threading.Thread(
                target=self._work, args=(name, work, outcome, limit_s), name=f"validator {name}", daemon=True
            ).start()
            async with asyncio.timeout(limit_s):
                return await outcome

    def _work(self, name: str, work: Callable[[], Value], outcome: "asyncio.Future[Value]", limit_s: float) -> None:
        _own.until = time.monotonic() + limit_s
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001 - a plug-in may raise anything, SystemExit too
            # Only an ordinary exception can be handed over: StopIteration and the like mean something to a future.
            fault = TimeoutError() if isinstance(error, TimeoutError) else RuntimeError(type(error).__name__)
            settle = partial(_set_exception, outcome, fault)
        else:
            settle = partial(_set_result, outcome, value)
        # Once the loop is closed nobody waits.
        with contextlib.suppress(RuntimeError):
            outcome.get_loop().call_soon_threadsafe(self._ended, name, settle)

    def _ended(self, name: str, settle: Callable[[], None]) -> None:
        self._left[name] -= 1
        settle()


def _set_exception(outcome: "asyncio.Future[Value]", fault: Exception) -> None:
    if not outcome.done():
        outcome.set_exception(fault)


def _set_result(outcome: "asyncio.Future[Value]", value: Value) -> None:
    if not outcome.done():
        outcome.set_result(value)
