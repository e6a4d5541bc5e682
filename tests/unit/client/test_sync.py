"""The sync client has what the async client has: the same verbs, parameters and docstrings."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from capability_authority.client import CapabilityAuthority as Async
from capability_authority.sync import CapabilityAuthority as Sync


def public(kind: type[object]) -> Iterator[tuple[str, Any]]:
    for name, member in inspect.getmembers(kind):
        if not name.startswith("_"):
            yield name, member


ASYNC = dict(public(Async))
SYNC = dict(public(Sync))
VERBS = sorted(name for name, member in ASYNC.items() if inspect.isfunction(member) and name != "close")


def parameters(member: Callable[..., object]) -> list[tuple[str, object, object, object]]:
    return [(p.name, p.kind, p.default, p.annotation) for p in inspect.signature(member).parameters.values()]


def test_every_verb_of_the_async_client_is_there_and_no_other() -> None:
    remedy = "name the verb in capability_authority/sync/authority.py: `name = waiting(Async.name)`, or `iterating`"
    assert set(SYNC) == set(ASYNC), remedy


@pytest.mark.parametrize("verb", [*VERBS, "close", "connect"])
def test_a_verb_takes_the_same_and_does_not_wait_for_an_event_loop(verb: str) -> None:
    assert parameters(SYNC[verb]) == parameters(ASYNC[verb])
    assert not inspect.iscoroutinefunction(SYNC[verb])
    assert not inspect.isasyncgenfunction(SYNC[verb])
    assert SYNC[verb].__doc__


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_its_namesake(verb: str) -> None:
    # The first two take an iterable of their caller's thread, the last one waits for nothing.
    if verb not in ("commit_stream", "commit_requests", "vouch_for"):
        assert SYNC[verb].__wrapped__ is ASYNC[verb]
