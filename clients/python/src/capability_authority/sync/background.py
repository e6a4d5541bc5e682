"""The one event loop of all sync clients of a process, in a thread that lives as long as any of them is open.

gRPC's channels belong to an event loop and survive no fork (case F15); this is where both is taken care of.
"""

import asyncio
import atexit
import concurrent.futures
import os
import threading
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from capability_authority.client import ConnectionClosed

__all__ = ["BackgroundLoop", "borrow_loop", "give_back_loop"]

T = TypeVar("T")

_ENDS_WITHIN_S: Final = 2.0
"""What is still under way when the last client closes, or the interpreter ends, has so long to be cancelled."""


class BackgroundLoop:
    """An event loop that runs in a thread until it is stopped."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._is_stopped = False
        # A daemon: a program that ends without closing its clients must end all the same.
        self._thread = threading.Thread(target=self._serve, name="capability-authority", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the work returns or raises, waited for by the thread that asks.

        An exception in that thread, such as `KeyboardInterrupt`, cancels the work. Raises `ConnectionClosed` when the
        loop is stopped meanwhile, and `RuntimeError` in the loop's own thread, which would wait for itself.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError(
                "a sync client was called by what its own event loop runs, which would wait for ever: use"
                " capability_authority.CapabilityAuthority there, or a plain iterable instead of an async one"
            )
        # What is handed over before the stop is cancelled by it; nothing is handed over after it, to wait for ever.
        with self._lock:
            if self._is_stopped:
                work.close()
                raise ConnectionClosed("the client was closed meanwhile")
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise ConnectionClosed("the client was closed during the call") from None
        finally:
            # Only an exception of the waiting thread itself leaves it unfinished.
            future.cancel()

    def stop(self) -> None:
        """Cancel what is still under way and end the thread."""
        with self._lock:
            if self._is_stopped:
                return
            self._is_stopped = True
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_ENDS_WITHIN_S * 2)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._wind_down())
        finally:
            asyncio.set_event_loop(None)
            self._loop.close()

    async def _wind_down(self) -> None:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=_ENDS_WITHIN_S)
        await self._loop.shutdown_asyncgens()


class _Shared:
    """The loop that is lent, and to how many."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.loop: BackgroundLoop | None = None
        self.borrowers = 0


_shared = _Shared()


def borrow_loop() -> BackgroundLoop:
    """The loop of this process, which is started for the first who asks. Give it back with `give_back_loop`."""
    with _shared.lock:
        if _shared.loop is None:
            _shared.loop = BackgroundLoop()
        _shared.borrowers += 1
        return _shared.loop


def give_back_loop() -> None:
    """The last one who gives it back stops it."""
    with _shared.lock:
        _shared.borrowers -= 1
        if _shared.borrowers > 0:
            return
        loop, _shared.loop = _shared.loop, None
    if loop is not None:
        loop.stop()


def _forget() -> None:
    """In a forked child there is no thread, and the lock may have been held by one that is not there either."""
    _shared.__init__()  # type: ignore[misc] # the one object, as new


def _stop_at_exit() -> None:
    """Left open: its thread must not run into an interpreter that is taken down."""
    with _shared.lock:
        loop, _shared.loop, _shared.borrowers = _shared.loop, None, 0
    if loop is not None:
        loop.stop()


os.register_at_fork(after_in_child=_forget)
atexit.register(_stop_at_exit)
