"""Runs a coroutine for a command."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Answer = TypeVar("Answer")


def run_to_end(main: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
    """As `asyncio.run`, but a Ctrl-C or SIGTERM that comes while the event loop is half made waits until it is whole.

    A loop that is interrupted in its own constructor ends with a traceback of its destructor.
    """
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        runner = asyncio.Runner()
        runner.get_loop()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
    with runner:
        return runner.run(main())
