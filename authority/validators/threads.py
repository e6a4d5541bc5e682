"""Where validators run that take time: in threads beside the event loop, few at once, each within its limit."""

import asyncio
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Generic, TypeVar

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
        self._stuck: Counter[str] = Counter()
        self._held: set[asyncio.Task[object]] = set()

    async def run(self, name: str, work: Callable[[], Value], limit_s: float) -> Value:
        """What the work returns; the wait for a place does not count. Raises what it raises, and TimeoutError.

        Who is cancelled while waiting for a place leaves nothing behind; after that the thread keeps its place until
        it ends or is over its limit, as if somebody waited. So nobody who goes away has others turned away.
        """
        await self._places.acquire()
        if self._stuck[name] >= self._most_stuck:
            self._places.release()
            raise TimeoutError
        run: _Run[Value] = _Run(name, asyncio.get_running_loop().create_future())
        holding = asyncio.create_task(self._hold(run, work, limit_s))
        self._held.add(holding)
        holding.add_done_callback(self._let_go)
        return await asyncio.shield(holding)

    async def _hold(self, run: "_Run[Value]", work: Callable[[], Value], limit_s: float) -> Value:
        try:
            threading.Thread(
                target=self._work, args=(run, work, limit_s), name=f"validator {run.name}", daemon=True
            ).start()
            async with asyncio.timeout(limit_s):
                return await run.outcome
        except TimeoutError:
            if not run.has_ended:
                run.is_stuck = True
                self._stuck[run.name] += 1
            raise
        finally:
            self._places.release()

    def _let_go(self, holding: "asyncio.Task[object]") -> None:
        self._held.discard(holding)
        # Looked at even when nobody waits any longer.
        if not holding.cancelled():
            holding.exception()

    def _work(self, run: "_Run[Value]", work: Callable[[], Value], limit_s: float) -> None:
        _own.until = time.monotonic() + limit_s
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001 - a plug-in may raise anything, SystemExit too
            # Only an ordinary exception can be handed over: StopIteration and the like mean something to a future.
            fault = TimeoutError() if isinstance(error, TimeoutError) else RuntimeError(type(error).__name__)
            settle = partial(_set_exception, run.outcome, fault)
        else:
            settle = partial(_set_result, run.outcome, value)
        # Once the loop is closed nobody waits.
        with contextlib.suppress(RuntimeError):
            run.outcome.get_loop().call_soon_threadsafe(self._ended, run, settle)

    def _ended(self, run: "_Run[Value]", settle: Callable[[], None]) -> None:
        run.has_ended = True
        if run.is_stuck:
            self._stuck[run.name] -= 1
        settle()


@dataclass(slots=True)
class _Run(Generic[Value]):
    """One thread at work."""

    name: str
    outcome: "asyncio.Future[Value]"
    has_ended: bool = False
    is_stuck: bool = False


def _set_exception(outcome: "asyncio.Future[Value]", fault: Exception) -> None:
    if not outcome.done():
        outcome.set_exception(fault)


def _set_result(outcome: "asyncio.Future[Value]", value: Value) -> None:
    if not outcome.done():
        outcome.set_result(value)
