"""What goes on beside the calls for as long as the service is open."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable


@contextlib.asynccontextmanager
async def repeating(act: Callable[[], Awaitable[None]], every_s: float) -> AsyncIterator[None]:
    """Acts again and again, first after `every_s` seconds, until the block ends. The act raises nothing."""

    async def repeat() -> None:
        while True:
            await asyncio.sleep(every_s)
            await act()

    task = asyncio.create_task(repeat())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
