"""The streams that are open in this process: how many there may be, how long they are read from, and their end."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from authority.domain.identity import Caller
from authority.domain.reasons import Reason
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.rpc.current_call import Context
from authority.rpc.refused import Refused
from authority.telemetry import metrics
from authority.telemetry.names import STREAMS_OPEN

Later: TypeAlias = Callable[[float, Callable[[], None]], asyncio.TimerHandle]
"""Calls back after so many seconds unless cancelled, as `loop.call_later` does."""

_Owner: TypeAlias = tuple[TenantRef, PrincipalRef]


@dataclass(frozen=True, slots=True, eq=False)
class OpenStream:
    """One stream. Once it `ends`, nothing more is read from it, and what was read is answered."""

    ends: asyncio.Event = field(default_factory=asyncio.Event)


class OpenStreams:
    """Bounds the streams: each holds the place of a call for minutes, where others hold it for moments.

    `life` is in seconds. A stream keeps its place until gRPC is done with it: one whose caller reads nothing cannot be
    ended by us, and would otherwise make room for the next of the same caller.
    """

    def __init__(self, *, life: float, most: int, most_per_principal: int, later: Later | None = None) -> None:
        self.life = life
        self._most = most
        self._most_per_principal = most_per_principal
        self._later = later or (lambda seconds, call: asyncio.get_running_loop().call_later(seconds, call))
        self._open: set[OpenStream] = set()
        self._owned: Counter[_Owner] = Counter()
        self._is_over = False

    def open(self, caller: Caller, context: Context) -> OpenStream:
        """A place for a stream of the caller, from which may be read for as long as it lives.

        Raises `Refused` with OVERLOADED when this process, or the caller in it, has too many.
        """
        owner = (caller.tenant, caller.ref)
        if len(self._open) >= self._most or self._owned[owner] >= self._most_per_principal:
            raise Refused(Refusal(Reason.OVERLOADED))
        stream = OpenStream()
        metrics.count(STREAMS_OPEN)
        self._open.add(stream)
        self._owned[owner] += 1
        timer = self._later(self.life, stream.ends.set)

        def close(_: object) -> None:
            timer.cancel()
            metrics.count(STREAMS_OPEN, by=-1)
            self._open.discard(stream)
            self._owned[owner] -= 1
            if not self._owned[owner]:
                del self._owned[owner]

        context.add_done_callback(close)  # type: ignore[arg-type] # the stubs ask for a class, and call it
        if self._is_over:
            stream.ends.set()
        return stream

    def end(self) -> None:
        """From now on nothing is read from any stream; each is over once what it has read is answered (case F12)."""
        self._is_over = True
        for stream in self._open:
            stream.ends.set()
