"""Async iterators read without an event loop of one's own, and plain ones read by an event loop that never waits."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterable
from functools import partial
from types import TracebackType
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from capability_authority.client import ConnectionClosed

__all__ = ["Iteration", "Run", "pulled"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_OVER: Final = object()


class Run(Protocol):
    """Waits for a coroutine that runs elsewhere."""

    def __call__(self, work: Coroutine[Any, Any, T], /) -> T:
        """What the work returns or raises."""
        ...


class Iteration(Generic[T_co]):
    """What a verb yields, one after the other: for a `for` loop, or for a `with` block around one.

    A loop that is left early gives up what is under way only once the iteration is closed: by `close`, by the end of
    the `with` block, or with its client.
    """

    def __init__(self, source: AsyncIterator[T_co], run: Run) -> None:
        self._source = source
        self._run = run
        self._is_over = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T_co:
        """The next one, waited for. Raises what the verb raises."""
        if self._is_over:
            raise StopIteration
        try:
            return self._run(_next_of(self._source))
        except StopAsyncIteration:
            self._is_over = True
            raise StopIteration from None

    def close(self) -> None:
        """Give up what is under way; nothing comes after that. Closing again, or after the client, does nothing."""
        closing: Callable[[], Coroutine[Any, Any, None]] | None = getattr(self._source, "aclose", None)
        is_over, self._is_over = self._is_over, True
        if not is_over and closing is not None:
            with contextlib.suppress(ConnectionClosed):
                self._run(closing())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


async def _next_of(source: AsyncIterator[T]) -> T:
    return await anext(source)


async def pulled(source: Iterable[T]) -> AsyncIterator[T]:
    """The items of a plain iterable, each taken in one other thread, for it may wait for as long as it likes.

    The thread is a daemon: a source that never comes back holds up neither the client nor the end of the program.
    """
    loop = asyncio.get_running_loop()
    wanted: queue.SimpleQueue[asyncio.Future[object] | None] = queue.SimpleQueue()
    threading.Thread(target=_pull, args=(source, wanted, loop), name="capability-authority-source", daemon=True).start()
    try:
        while True:
            future: asyncio.Future[object] = loop.create_future()
            wanted.put(future)
            if (item := await future) is _OVER:
                return
            yield item  # type: ignore[misc] # whatever is not the end came from the source
    finally:
        wanted.put(None)


def _pull(
    source: Iterable[T], wanted: "queue.SimpleQueue[asyncio.Future[object] | None]", loop: asyncio.AbstractEventLoop
) -> None:
    items = _each(source)
    while (future := wanted.get()) is not None:
        try:
            tell = partial(future.set_result, next(items, _OVER))
        except Exception as error:  # noqa: BLE001  # it is its caller's own, and goes back to it
            tell = partial(future.set_exception, error)
        try:
            loop.call_soon_threadsafe(_unless_given_up, future, tell)
        except RuntimeError:
            break  # The loop is closed: nobody waits for it.
    items.close()


def _each(source: Iterable[T]) -> Generator[T, None, None]:
    """Of any iterable a generator, which can be closed."""
    yield from source


def _unless_given_up(future: "asyncio.Future[object]", tell: Callable[[], None]) -> None:
    if not future.done():
        tell()
