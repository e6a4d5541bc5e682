"""What runs inside a worker: the service on a port that it shares, until its parent ends it, or ends."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
import uvloop

from authority.bootstrap.repeating import repeating
from authority.cli.failures import explain, trace_of
from authority.cli.logs import log_as
from authority.cli.serving import opened, running
from authority.cli.workers.order import PULSE, Order, Report, pulse_every_s
from authority.config import Settings
from authority.embedded.launch import end_with_parent

_log = structlog.get_logger(__name__)

_ORPHANED: Final = 1
_FOR_THE_PARENT: Final = (signal.SIGINT, signal.SIGHUP)
"""A terminal, or who signals a whole group, means the parent, which asks its workers in order."""


def main() -> int:
    """Serves as standard input says and answers with the exit code: 0 once it was asked to end and has."""
    private = _private_output()

    def tell(report: Report) -> None:
        os.write(private, report.line())

    line = sys.stdin.buffer.readline()
    if not line:
        return _ORPHANED
    order = Order.of_line(line)
    # A parent that is killed cannot ask anybody to end. Killed workers lose nothing: callers ask again with their key.
    end_with_parent(signal.SIGKILL)
    if os.getppid() != order.parent:  # It ended before the signal was asked for.
        return _ORPHANED
    for number in _FOR_THE_PARENT:
        signal.signal(number, signal.SIG_IGN)
    try:
        settings = order.load()
        log_as(settings)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(settings, tell, _pulse(private)))
    except Exception as error:  # noqa: BLE001 - the parent tells it, and may start another
        sentence, code = explain(error)
        _log.debug("worker failed", trace=trace_of(error))
        tell(Report(sentence, code))
        return code
    return 0


async def _serve(settings: Settings, tell: Callable[[Report], None], pulse: Callable[[], Awaitable[None]]) -> None:
    stop = asyncio.Event()
    # However often it comes: from the parent, and from who signals all processes of a service at once.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with (
        repeating(pulse, pulse_every_s(settings.hang_s)),
        opened(settings, shares_port=True) as service,
        running(service, stop),
    ):
        tell(Report(metrics=service.metrics_url))
        await stop.wait()


def _pulse(private: int) -> Callable[[], Awaitable[None]]:
    """A sign of life to the parent: the event loop that serves goes round."""

    async def pulse() -> None:
        with contextlib.suppress(BlockingIOError):  # A parent that stands still has enough of them already.
            os.write(private, PULSE)

    os.set_blocking(private, False)
    return pulse


def _private_output() -> int:
    """What is standard output now; whatever else is printed goes where the logs go."""
    private = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return private
