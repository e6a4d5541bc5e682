"""The life of a served authority: made ready, announced, stopped in order by whatever asks it to stop."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from types import FrameType
from typing import Final, TypeAlias

import uvloop

from authority.bootstrap.embedded import furnish
from authority.bootstrap.faults import naming
from authority.bootstrap.operator import open_operator
from authority.bootstrap.relay import relaying
from authority.bootstrap.service import Service, open_service
from authority.cli.demo_tenants import DemoTenants
from authority.cli.endpoint import Endpoint, endpoint_of, published
from authority.cli.failures import Misused, Refused
from authority.cli.garbage import collecting_rarely
from authority.config import Settings
from authority.embedded.demo import load_tenants
from authority.embedded.private_files import open_private, put_in_place
from authority.rpc.listening import PlaintextRefused

Announce: TypeAlias = Callable[[Endpoint, Sequence[int]], None]
"""Is called once, when calls are served, with the process ids of the workers where there are several."""

Tell: TypeAlias = Callable[[str], None]
"""Is told what is begun, in words for a person."""

_STOPS: Final = (signal.SIGINT, signal.SIGTERM)
_INPUT: Final = 0
_TRY: Final = "try.py"


@contextlib.contextmanager
def stopped_by_sigterm(code: int = 0) -> Iterator[None]:
    """Lets SIGTERM end the block in order, as Ctrl-C does, and the process with this exit code."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        sys.exit(code)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def serve_until_stopped(
    settings: Settings, data: Path | None, tell: Tell, announce: Announce, *, until_input_ends: bool
) -> int:
    """Serves until Ctrl-C or SIGTERM, or the end of standard input if so asked, and answers with the exit code 0.

    With a data folder the authority is furnished first: keys, policy, the demo's tenants, credentials and `try.py`.
    A second Ctrl-C does not wait for running calls. Raises DatabaseUnusable, and Refused or Misused when the address
    cannot be had.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings, data, tell, announce, until_input_ends=until_input_ends))
    return 0


async def _serve(
    settings: Settings, data: Path | None, tell: Tell, announce: Announce, *, until_input_ends: bool
) -> None:
    with asked_to_stop(until_input_ends=until_input_ends) as stop:
        policy_version = await furnish(settings, tell) if data else b""
        async with opened(settings) as service:
            endpoint = endpoint_of(settings, service.port, service.metrics_url)
            if data:
                await settle_in(settings, data, endpoint, policy_version)
            # An authority that is whole on one machine delivers its events, too.
            async with relaying(settings) if data else contextlib.nullcontext(), running(service, stop):
                with published(data, endpoint) if data else contextlib.nullcontext():
                    announce(endpoint, ())
                    await stop.wait()


@contextlib.asynccontextmanager
async def opened(settings: Settings, *, shares_port: bool = False) -> AsyncIterator[Service]:
    """The service, ready to run; what keeps it from that is told in sentences for the operator.

    `shares_port` lets other processes of our user listen on the same port. Raises DatabaseUnusable, Misused, Refused.
    """
    async with contextlib.AsyncExitStack() as stack:
        try:
            with naming("AUTHORITY_DATABASE_URL"):
                service = await stack.enter_async_context(open_service(settings, shares_port=shares_port))
        except PlaintextRefused as error:
            raise Misused(str(error)) from None
        except RuntimeError as error:
            if "bind" not in str(error).lower():
                raise
            raise cannot_listen(settings.listen) from error
        yield service


def cannot_listen(listen: str) -> Refused:
    """What the operator is told of an address that cannot be had."""
    return Refused(
        f"cannot listen on {listen}: another process may do so already; choose another address by --listen or"
        " AUTHORITY_LISTEN"
    )


@contextlib.asynccontextmanager
async def running(service: Service, stop: asyncio.Event) -> AsyncIterator[None]:
    """Serves while the block runs; at its end the service says so, and lets running calls end."""
    ready = asyncio.Event()
    serving = asyncio.create_task(service.run(stop, ready))
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    try:
        if serving.done():
            await serving  # Raises whatever kept it from serving.
        with collecting_rarely():
            yield
    finally:
        stop.set()
        await serving


@contextlib.contextmanager
def asked_to_stop(*, until_input_ends: bool) -> Iterator[asyncio.Event]:
    """An event that is set when the process is asked to stop. A second signal has its usual effect."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def ask() -> None:
        stop.set()
        ignore()

    def ignore() -> None:
        for number in _STOPS:
            loop.remove_signal_handler(number)
        if until_input_ends:
            loop.remove_reader(_INPUT)

    def read() -> None:
        if not os.read(_INPUT, 4096):
            ask()

    for number in _STOPS:
        loop.add_signal_handler(number, ask)
    try:
        if until_input_ends:
            _watch_input(loop, read)
        yield stop
    finally:
        ignore()


def _watch_input(loop: asyncio.AbstractEventLoop, read: Callable[[], None]) -> None:
    try:
        loop.add_reader(_INPUT, read)
    except OSError:
        # epoll takes neither files nor /dev/null.
        raise Misused("--until-input-ends: standard input must be a pipe or a terminal, and is neither") from None


async def settle_in(settings: Settings, data: Path, endpoint: Endpoint, policy_version: bytes) -> None:
    """Makes the demo's tenants, and writes their credentials and `try.py` into the data folder."""
    async with open_operator(settings) as operator:
        await DemoTenants(operator, data, endpoint, policy_version).ensure(load_tenants())
    script = resources.files("authority.cli").joinpath("try_it.py").read_text(encoding="utf-8")
    draft = data / f"{_TRY}.new"
    with os.fdopen(open_private(draft, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8") as file:
        file.write(script)
    put_in_place(draft, data / _TRY)
