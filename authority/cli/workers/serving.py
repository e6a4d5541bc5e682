"""The life of an authority that several workers serve: prepared once, announced once, ended by whatever asks for it."""

import asyncio
import contextlib
import dataclasses
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import structlog
import uvloop

from authority.bootstrap.connections import connections_missing, shared_out
from authority.bootstrap.embedded import furnish
from authority.bootstrap.faults import naming
from authority.bootstrap.relay import relaying
from authority.bootstrap.sight import seen
from authority.cli.endpoint import endpoint_of, published
from authority.cli.failures import Misused
from authority.cli.serving import Announce, Tell, asked_to_stop, settle_in
from authority.cli.workers.crew import Crew, crew_of
from authority.cli.workers.reservation import reserved
from authority.config import Settings, SettingsError
from authority.telemetry.exporting import CannotExport

_log = structlog.get_logger(__name__)

_OWN_METRICS: Final = "127.0.0.1:0"
"""Where a worker shows its metrics: to its parent, who knows the port."""
_PARENT: Final = "parent"
"""What the parent, which may relay, is called among its workers."""
_TERMINAL: Final = "/dev/tty"


def serve_by_workers(
    settings: Settings, data: Path | None, tell: Tell, announce: Announce, *, until_input_ends: bool
) -> int:
    """As `serve_until_stopped`, by as many processes as the settings name; SIGHUP replaces them one after another.

    At the end all of them say at once that they no longer serve. Raises what `serve_until_stopped` does, and
    WorkerFailed when no worker comes to serve.
    """
    if sys.platform != "linux":
        raise Misused("several workers behind one port need Linux: serve with one, or several on ports of their own")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(shared_out(settings), data, tell, announce, until_input_ends=until_input_ends))
    return 0


async def _serve(
    settings: Settings, data: Path | None, tell: Tell, announce: Announce, *, until_input_ends: bool
) -> None:
    with asked_to_stop(until_input_ends=until_input_ends) as stop, _asked_to_replace(stop) as replace:
        policy_version = await furnish(settings, tell) if data else b""
        await _look_at_connections(settings)
        with reserved(settings.listen) as port:
            endpoint = endpoint_of(settings, port)
            if data:
                await settle_in(settings, data, endpoint, policy_version)
            own_metrics = settings.metrics_listen and _OWN_METRICS
            each = settings.model_copy(update={"listen": endpoint.target, "metrics_listen": own_metrics})
            relay = _relaying(settings, each) if data else contextlib.nullcontext("")
            async with relay as own_url, crew_of(each) as crew:
                if not await _started(crew, stop):
                    return
                with _metrics_shown(settings, crew, own_url) as url:
                    endpoint = dataclasses.replace(endpoint, metrics=url)
                    with published(data, endpoint) if data else contextlib.nullcontext():
                        announce(endpoint, crew.pids)
                        await _keep_going(crew, stop, replace)


@contextlib.asynccontextmanager
async def _relaying(settings: Settings, each: Settings) -> AsyncIterator[str]:
    """The parent relays, for it outlives every worker, and answers with where its own metrics are shown."""
    with seen(each) as own_url:
        async with relaying(settings):
            yield own_url


@contextlib.contextmanager
def _metrics_shown(settings: Settings, crew: Crew, own_url: str) -> Iterator[str]:
    """Shows those of all workers, and the parent's, at the one address that is set, and answers with its URL.

    Raises SettingsError.
    """
    if settings.metrics_listen is None:
        yield ""
        return
    from authority.telemetry.together import served_together  # noqa: PLC0415 - only where it is used

    def urls() -> dict[str, str]:
        return crew.metrics_urls | ({_PARENT: own_url} if own_url else {})

    with contextlib.ExitStack() as stack:
        try:
            url = stack.enter_context(served_together(settings.metrics_listen, urls))
        except CannotExport as error:
            raise SettingsError(str(error)) from None
        yield url


async def _look_at_connections(settings: Settings) -> None:
    with naming("AUTHORITY_DATABASE_URL"):
        missing = await connections_missing(settings)
    if missing:
        _log.warning(missing)


async def _started(crew: Crew, stop: asyncio.Event) -> bool:
    """Whether the crew serves; not, if it is to stop before it does."""
    starting, stopping = asyncio.create_task(crew.start()), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            return False
        await starting  # Raises whatever kept them from serving.
        return True
    finally:
        starting.cancel()
        stopping.cancel()


async def _keep_going(crew: Crew, stop: asyncio.Event, replace: asyncio.Event) -> None:
    replacing = asyncio.create_task(_replace_whenever_asked(crew, replace))
    try:
        await stop.wait()
    finally:
        replacing.cancel()
        await asyncio.gather(replacing, return_exceptions=True)


async def _replace_whenever_asked(crew: Crew, replace: asyncio.Event) -> None:
    while True:
        await replace.wait()
        replace.clear()  # Whoever asks from here on has changed something since, and is obeyed once more.
        await crew.replace()


@contextlib.contextmanager
def _asked_to_replace(stop: asyncio.Event) -> Iterator[asyncio.Event]:
    """An event that SIGHUP sets. Where it means that our terminal has gone, it sets `stop` instead."""
    loop, replace = asyncio.get_running_loop(), asyncio.Event()
    # Who has it ignored, as nohup does, wants us to outlive the terminal.
    ends_with_terminal = signal.getsignal(signal.SIGHUP) != signal.SIG_IGN and _has_terminal()

    def asked() -> None:
        if ends_with_terminal and not _has_terminal():
            stop.set()
        else:
            replace.set()

    loop.add_signal_handler(signal.SIGHUP, asked)
    try:
        yield replace
    finally:
        loop.remove_signal_handler(signal.SIGHUP)


def _has_terminal() -> bool:
    try:
        os.close(os.open(_TERMINAL, os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True
