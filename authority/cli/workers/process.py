"""One worker as its parent sees it: started afresh, serving, asked to end, gone."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from typing import Any, Final, Self

import structlog

from authority.cli.failures import REFUSED, Refused
from authority.cli.workers.order import PULSE, Order, Report
from authority.config import Settings

_log = structlog.get_logger(__name__)

_COMMAND: Final = (sys.executable, "-P", "-m", "authority.cli.workers")
_READY_WITHIN_S: Final = 60.0
_PAST_DRAIN_S: Final = 5.0
"""How much longer than running calls may take the rest of an orderly end may."""


class WorkerFailed(Refused):
    """A worker ended, or did not come to serve. The message says why; the exit code is what the worker's would be."""

    def __init__(self, why: str, code: int = REFUSED) -> None:
        super().__init__(why)
        self.exit_code = code


class WorkerProcess:
    """A process of this program, of a session of its own, that ends when we end.

    A fresh execution, not a fork: neither gRPC nor an event loop survives one (case F15). Must be started by the main
    thread, whose end the kernel takes for ours.
    """

    def __init__(self, popen: "subprocess.Popen[bytes]", drain_s: float) -> None:
        self._popen = popen
        self._drain_s = drain_s
        self._first: asyncio.Future[Report] = asyncio.get_running_loop().create_future()
        self._last = Report()
        self._following = asyncio.create_task(self._follow())
        self._served_from: float | None = None
        self._silent_looks = 0

    @classmethod
    def start(cls, settings: Settings) -> Self:
        """Starts one. Raises WorkerFailed when the machine has no room for another process."""
        try:
            popen = subprocess.Popen(  # noqa: S603 - this very program
                _COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
                env={name: value for name, value in os.environ.items() if not name.upper().startswith("AUTHORITY_")},
            )
        except OSError as error:
            raise WorkerFailed(f"a worker could not be started: {error.strerror}") from error
        assert popen.stdin is not None
        with contextlib.suppress(BrokenPipeError), popen.stdin:
            popen.stdin.write(Order.to_serve(settings).line())  # Far less than a pipe takes at once.
        return cls(popen, settings.drain_s)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._popen.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self._popen.poll() is None

    @property
    def served_s(self) -> float:
        """For how long it has served."""
        return 0.0 if self._served_from is None else time.monotonic() - self._served_from

    async def serving(self) -> None:
        """Returns once it serves. Raises WorkerFailed when it has ended, or is killed because it takes too long."""
        heard: set[asyncio.Future[Any]] = {self._first, self._following}
        await asyncio.wait(heard, timeout=_READY_WITHIN_S, return_when=asyncio.FIRST_COMPLETED)
        if not self._first.done():
            slow = self.is_running
            await self.kill()
            raise WorkerFailed(f"a worker did not serve: {'not in time' if slow else self.outcome}")
        report = self._first.result()
        if report.refusal:
            await self.ended()
            raise WorkerFailed(report.refusal, report.code)
        self._served_from = time.monotonic()
        _log.info("worker serves", worker=self.pid)

    @property
    def metrics_url(self) -> str:
        """Where it shows its metrics, once it serves; else ''."""
        return "" if self._served_from is None else self._first.result().metrics

    async def ended(self) -> None:
        """Returns once it has ended."""
        await asyncio.wait({self._following})

    @property
    def outcome(self) -> str:
        """How it ended, in words."""
        if self._last.refusal:
            return self._last.refusal
        code = self._popen.returncode
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    async def end(self) -> None:
        """Asks it to end in order: to say that it no longer serves, and to let running calls end. Kills a stuck one."""
        if self.is_running:
            self._popen.terminate()
        if (await asyncio.wait({self._following}, timeout=self._drain_s + _PAST_DRAIN_S))[1]:
            _log.warning("worker did not end in time", worker=self.pid)
            await self.kill()

    def look(self) -> int:
        """How many looks in a row, this one included, have found no sign of life; 0 while it begins.

        Looks are counted, and not seconds: a parent that stood still itself takes nobody's silence for a hang.
        """
        self._silent_looks = 0 if self._served_from is None else self._silent_looks + 1
        return self._silent_looks

    def put_to_death(self) -> None:
        """Kills it and waits for nothing: it has ended a moment later, or as soon as the kernel lets it."""
        self._silent_looks = 0
        self._popen.kill()

    async def kill(self) -> None:
        """Ends it at once; returns when it has gone."""
        self._popen.kill()
        self._popen.wait()  # A moment; an event loop that is being closed follows nothing any more.
        await self.ended()

    async def _follow(self) -> None:
        """Hears what it says, until it can say no more because it has ended."""
        assert self._popen.stdout is not None
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), self._popen.stdout)
        try:
            async for line in reader:
                self._silent_looks = 0
                if line == PULSE:
                    continue
                self._last = Report.of_line(line)
                if not self._first.done():
                    self._first.set_result(self._last)
        finally:
            transport.close()
        # Its files are closed a moment before it has gone.
        self._popen.wait()
