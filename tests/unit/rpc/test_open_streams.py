"""The places of streams, and their end."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from authority.domain.reasons import Reason
from authority.rpc.open_streams import OpenStreams
from authority.rpc.refused import Refused
from tests.unit.rpc.requests import CALLER


class Call:
    """A call of gRPC's, as far as its end is concerned."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[object], None]] = []

    def add_done_callback(self, callback: Callable[[object], None]) -> None:
        self._callbacks.append(callback)

    def end(self) -> None:
        """GRPC is done with it."""
        for callback in self._callbacks:
            callback(self)


def streams(most: int = 8) -> OpenStreams:
    return OpenStreams(life=3_600, most=most, most_per_principal=most)


async def test_f12_a_stream_that_is_opened_while_the_server_stops_is_read_from_never() -> None:
    # given a server that stops, when a call that it had taken before opens a stream, then that ends at once
    opened = streams()
    call: Any = Call()
    before = opened.open(CALLER, call)
    assert not before.ends.is_set()
    opened.end()
    assert before.ends.is_set()
    assert opened.open(CALLER, call).ends.is_set()


async def test_a_place_is_given_back_when_its_call_is_done_and_not_before() -> None:
    # given a stream whose reading has ended
    opened = streams(most=1)
    call: Any = Call()
    opened.open(CALLER, call).ends.set()
    with pytest.raises(Refused) as refused:
        opened.open(CALLER, call)
    assert refused.value.refusal.reason is Reason.OVERLOADED
    # when gRPC is done with it, then there is room
    call.end()
    assert not opened.open(CALLER, call).ends.is_set()


async def test_the_age_of_a_stream_ends_it_and_no_other() -> None:
    calls: list[tuple[float, Callable[[], None]]] = []

    def later(seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        calls.append((seconds, call))
        return asyncio.get_running_loop().call_later(3_600, call)

    opened = OpenStreams(life=300, most=2, most_per_principal=2, later=later)
    call: Any = Call()
    older, newer = opened.open(CALLER, call), opened.open(CALLER, call)
    (life, end_older), _ = calls
    end_older()
    assert life == 300
    assert (older.ends.is_set(), newer.ends.is_set()) == (True, False)
