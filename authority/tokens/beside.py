"""Runs what blocks beside the event loop, in a thread that keeps nobody from ending."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

Answer = TypeVar("Answer")


async def beside(work: Callable[[], Answer]) -> Answer:
    """What `work` answers or raises. Cancelled, it goes on and nobody hears of it.

    A thread of the loop's own executor would be waited for when the process ends, however long a name server hangs.
    """
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[Answer] = loop.create_future()

    def settle(answer: Answer) -> None:
        if not answered.done():
            answered.set_result(answer)

    def fail(fault: Exception) -> None:
        if not answered.done():
            answered.set_exception(fault)

    def run() -> None:
        try:
            told = partial(settle, work())
        except Exception as fault:  # noqa: BLE001 - raised again where it is awaited
            told = partial(fail, fault)
        with contextlib.suppress(RuntimeError):  # The loop is closed: nobody waits any more.
            loop.call_soon_threadsafe(told)

    threading.Thread(target=run, name="beside the loop", daemon=True).start()
    return await answered
