"""Validations under way in this process: each goes on when its caller does not wait any longer, and is found again."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Final

from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.usecases.ports import Overloaded, RecordedValidation, RequestMark

AT_ONCE: Final = 64
"""Validations that may take their time at once, in each process."""
OF_ONE: Final = 32
"""Of those, how many may be asked for by one principal: the others' are for the others."""

_Key = tuple[TenantRef, PrincipalRef, str, bytes]


class ValidationRuns:
    """One run for each request id: whoever asks again under it waits for the same run.

    What may happen while it is under way. The caller goes away or its time is over: `asyncio.wait` leaves the run
    alone, it goes on, and what it keeps answers the same request later. The process dies or stops: nothing was kept, or
    all of it in one transaction; the same request begins anew, here or in another process. Two processes run the same
    request: both judge, and the request id lets one keep its receipt; the other is answered with that one.
    """

    def __init__(self, at_once: int = AT_ONCE, of_one: int = OF_ONE) -> None:
        self._at_once = at_once
        self._of_one = of_one
        self._tasks: dict[_Key, asyncio.Task[RecordedValidation | Refusal]] = {}

    async def answer(
        self,
        mark: RequestMark,
        begin: Callable[[], Coroutine[None, None, RecordedValidation | Refusal]],
        until: float,
    ) -> RecordedValidation | Refusal | None:
        """What the run came to, or None when it goes on after `until`, in event loop time. Raises what the run raises.

        Raises Overloaded when too many are under way, or too many of the same principal's.
        """
        key = (mark.tenant, mark.principal, mark.request_id, mark.digest)
        task = self._tasks.get(key)
        if task is None:
            of_same = sum(other[:2] == key[:2] for other in self._tasks)
            if len(self._tasks) >= self._at_once or of_same >= self._of_one:
                raise Overloaded
            task = self._tasks[key] = asyncio.create_task(begin())
            task.add_done_callback(lambda done: self._ended(key, done))
        await asyncio.wait([task], timeout=max(until - asyncio.get_running_loop().time(), 0))
        return task.result() if task.done() else None

    async def close(self, within_s: float) -> None:
        """Lets what is under way end, for so long; then breaks it off: nobody was told of it, and may ask again."""
        tasks = list(self._tasks.values())
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=within_s)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    def _ended(self, key: _Key, task: "asyncio.Task[RecordedValidation | Refusal]") -> None:
        del self._tasks[key]
        # Looked at even when nobody waits any longer.
        if not task.cancelled():
            task.exception()
