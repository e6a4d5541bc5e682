"""Verbs that wait, made of the async client's: same parameters, same docstrings, and types that a checker sees."""

import os
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import wraps
from inspect import signature
from types import GenericAlias
from typing import Any, Concatenate, ParamSpec, TypeVar, get_args

from capability_authority.client import CapabilityAuthority as AsyncCapabilityAuthority
from capability_authority.client import ConnectionClosed
from capability_authority.sync.background import BackgroundLoop, borrow_loop, give_back_loop
from capability_authority.sync.iteration import Iteration

__all__ = ["Delegate", "iterating", "waiting"]

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")


class Delegate:
    """An async client whose verbs run in the background loop while their callers wait."""

    def __init__(self, authority: AsyncCapabilityAuthority) -> None:
        self._authority = authority
        self._loop: BackgroundLoop | None = None
        self._process_id = 0

    def _open(self) -> None:
        if self._loop is not None:
            raise RuntimeError("the client is entered already")
        loop = borrow_loop()
        try:
            loop.run(self._authority.__aenter__())
        except BaseException:
            give_back_loop()
            raise
        self._loop, self._process_id = loop, os.getpid()

    def _close(self) -> None:
        """Closing again does nothing; nor does closing in another process than the one that opened it."""
        loop, self._loop = self._loop, None
        if loop is None or self._process_id != os.getpid():
            return
        try:
            loop.run(self._authority.close())
        except ConnectionClosed:
            pass  # The interpreter is about to end, and closed it.
        finally:
            give_back_loop()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            loop = self._open_loop()
        except ConnectionClosed:
            work.close()
            raise
        return loop.run(work)

    def _open_loop(self) -> BackgroundLoop:
        if self._loop is None:
            raise ConnectionClosed("the client is closed: use it inside `with`")
        if self._process_id != os.getpid():
            raise ConnectionClosed("the client was entered before a fork; enter one in each process")
        return self._loop


def waiting(
    verb: Callable[Concatenate[V, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Delegate, P], T]:
    """The verb, which returns when it is done."""

    @wraps(verb)
    def wait(self: Delegate, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._run(verb(self._authority, *args, **kwargs))  # type: ignore[arg-type] # V is a part of it

    return wait


def iterating(
    verb: Callable[Concatenate[V, P], AsyncIterator[T]],
) -> Callable[Concatenate[Delegate, P], Iteration[T]]:
    """The verb, which yields one after the other. Nothing is asked for before the first is."""

    @wraps(verb)
    def iterate(self: Delegate, /, *args: P.args, **kwargs: P.kwargs) -> Iteration[T]:
        return Iteration(verb(self._authority, *args, **kwargs), self._run)  # type: ignore[arg-type] # V is a part

    # What `help` shows.
    told = signature(verb)
    yielded = GenericAlias(Iteration, get_args(told.return_annotation)[:1])
    iterate.__signature__ = told.replace(return_annotation=yielded)  # type: ignore[attr-defined]
    return iterate
