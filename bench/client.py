"""A process that makes load: told what to prepare, then to send it, over a pipe."""

import asyncio
import contextlib
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import uvloop
from grpc import aio

from bench.request_files import read_messages
from bench.work import Materials, Prepared, Requests, Work
from capability_authority.client import Credentials

_OPTIONS: Final = (
    # Each channel has a connection of its own, as those of different processes have.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
)


@dataclass(frozen=True, slots=True)
class Setup:
    """What a client needs. `requests` are its own files: nobody else sends these."""

    address: str
    holder: bytes
    proposer: bytes
    """Credentials."""
    requests: Sequence[Path]
    channels: int


@dataclass(frozen=True, slots=True)
class Order:
    """What to send, and how much is to be under way at once."""

    work: Work
    concurrent: int


@dataclass(frozen=True, slots=True)
class Tally:
    """What came of an order. Times are seconds of the monotonic clock, which all processes share."""

    operations: int
    begun: float
    ended: float
    latencies: Sequence[float]
    """Seconds."""


def run_client(pipe: Connection, setup: Setup) -> None:
    """Carries out orders until None comes: answers when one is prepared, and by its Tally once told to send it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; who started us ends us.
    materials = Materials(
        Requests(read_messages(setup.requests)),
        setup.address,
        Credentials.from_json(setup.holder),
        Credentials.from_json(setup.proposer),
    )
    runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    with runner, contextlib.suppress(EOFError):  # Who started us has ended.
        channels = runner.run(_connect(setup))
        while (order := pipe.recv()) is not None:
            prepared = order.work.prepare(materials)
            pipe.send(None)
            pipe.recv()
            pipe.send(runner.run(_carry_out(order, prepared, channels)))
        runner.run(_close(channels))


async def _connect(setup: Setup) -> list[aio.Channel]:
    """Before anything is measured."""
    channels = [aio.insecure_channel(setup.address, _OPTIONS) for _ in range(setup.channels)]
    await asyncio.gather(*(channel.channel_ready() for channel in channels))
    return channels


async def _carry_out(order: Order, prepared: Prepared, channels: Sequence[aio.Channel]) -> Tally:
    begun = time.monotonic()
    sent = await prepared.send(channels, order.concurrent)
    ended = time.monotonic()
    return Tally(prepared.judge(sent.answers), begun, ended, sent.latencies)


async def _close(channels: Sequence[aio.Channel]) -> None:
    await asyncio.gather(*(channel.close() for channel in channels))
