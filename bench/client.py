"""A process that makes load: told what to prepare, then to send it, over a pipe."""

import asyncio
import contextlib
import itertools
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import uvloop
from grpc import aio

from bench.calls import Call, Work
from bench.request_files import read_messages
from capability_authority.client.credentials import Credentials
from capability_authority.client.proofs import Prover

_TIMEOUT_S: Final = 30.0
_OPTIONS: Final = (
    # Each channel has a connection of its own, as those of different processes have.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
)


@dataclass(frozen=True, slots=True)
class Setup:
    """What a client needs. `requests` are its own files: nobody else sends these."""

    address: str
    credentials: bytes
    requests: Sequence[Path]
    channels: int


@dataclass(frozen=True, slots=True)
class Order:
    """What to send, and how many calls are to be under way at once."""

    work: Work
    concurrent: int


@dataclass(frozen=True, slots=True)
class Tally:
    """What came of an order. Times are seconds of the monotonic clock, which all processes share."""

    operations: int
    begun: float
    ended: float
    latencies: Sequence[float]
    """Seconds from sending to the answer, one each call."""


def run_client(pipe: Connection, setup: Setup) -> None:
    """Carries out orders until None comes: answers when one is prepared, and by its Tally once told to send it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; who started us ends us.
    runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    with runner, contextlib.suppress(EOFError):  # Who started us has ended.
        client = runner.run(Client.connected(setup))
        while (order := pipe.recv()) is not None:
            calls = client.prepare(order)
            pipe.send(None)
            pipe.recv()
            pipe.send(runner.run(client.send(order, calls)))
        runner.run(client.close())


class Client:
    """Connections to the service, and the requests that are still to be sent."""

    def __init__(self, channels: Sequence[aio.Channel], requests: Iterator[bytes], prover: Prover) -> None:
        self._channels = channels
        self._requests = requests
        self._prover = prover

    @classmethod
    async def connected(cls, setup: Setup) -> "Client":
        """Connects, before anything is measured."""
        channels = [aio.insecure_channel(setup.address, _OPTIONS) for _ in range(setup.channels)]
        await asyncio.gather(*(channel.channel_ready() for channel in channels))
        return cls(channels, read_messages(setup.requests), Prover(Credentials.from_json(setup.credentials)))

    def prepare(self, order: Order) -> list[Call]:
        """The calls of an order: their proofs are fresh for five minutes."""
        return list(order.work.prepare(self._requests, self._prover))

    async def send(self, order: Order, calls: Sequence[Call]) -> Tally:
        """Sends all of them, so many at once, over the channels in turn. Raises what the service refuses."""
        answers: list[bytes] = []
        latencies: list[float] = []
        waiting = iter(calls)
        begun = time.monotonic()
        channels = itertools.islice(itertools.cycle(self._channels), order.concurrent)
        await asyncio.gather(*(_send_each(channel, waiting, answers, latencies) for channel in channels))
        ended = time.monotonic()
        return Tally(sum(map(order.work.judge, answers)), begun, ended, latencies)

    async def close(self) -> None:
        """Closes the connections."""
        await asyncio.gather(*(channel.close() for channel in self._channels))


async def _send_each(channel: aio.Channel, calls: Iterator[Call], answers: list[bytes], latencies: list[float]) -> None:
    for call in calls:
        method: aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(call.path)
        sent = time.monotonic()
        answers.append(await method(call.data, timeout=_TIMEOUT_S, metadata=call.metadata))
        latencies.append(time.monotonic() - sent)
