"""Processes of the service, started as an operator starts them, and ended whatever a test did to them."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

from grpc import aio

from authority.embedded import process_table
from authority.embedded.ports import free_port
from tests.installation.health import SERVING, health_at

COMMAND: Final = ("-m", "authority.cli", "serve", "--until-input-ends")
WITHIN_S: Final = 30.0
"""How long anything awaited here may take on a busy machine."""


async def eventually(condition: Callable[[], bool], what: str, within_s: float = WITHIN_S) -> None:
    """Returns as soon as the condition holds; fails, saying what did not come about, when that takes too long."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, f"did not come about in {within_s:.0f} s: {what}"
        await asyncio.sleep(0.005)


class ServiceProcess:
    """One process of the service, with its workers if it has any. What they write is in `log`."""

    def __init__(self, popen: subprocess.Popen[bytes], address: str, log: Path, log_begins: int) -> None:
        self._popen = popen
        self.address = address
        self.log = log
        self._log_begins = log_begins

    @classmethod
    def start(cls, folder: Path, environment: Mapping[str, str], *, address: str = "") -> Self:
        """Starts it; ask `serving` when it can be called.

        It ends with the test run, even when that is killed.
        """
        address = address or f"127.0.0.1:{free_port()}"
        bare = {"HOME": str(folder), "PATH": os.defpath, "LANG": "C.UTF-8"}
        log = folder / f"service-{address.rpartition(':')[2]}.log"
        with log.open("ab") as output:
            log_begins = output.tell()
            popen = subprocess.Popen(
                [sys.executable, *COMMAND],
                cwd=folder,
                env={**bare, **environment, "AUTHORITY_LISTEN": address},
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return cls(popen, address, log, log_begins)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._popen.poll()

    @property
    def said(self) -> str:
        """All that it has written, without what another wrote at the same address before."""
        return self.log.read_bytes()[self._log_begins :].decode("utf-8", errors="replace")

    @property
    def workers(self) -> list[int]:
        """The process ids of its workers, those that start or end included; none when it serves by itself."""
        return process_table.descendants(self.pid)

    async def serving(self, within_s: float = WITHIN_S) -> None:
        """Returns once it, and each of its workers, serves; fails, with what it wrote, when it has ended."""
        deadline = time.monotonic() + within_s
        while " serves at " not in self.said or await self.health() != SERVING:
            assert self.exit_code is None, f"the service ended with {self.exit_code}:\n{self.said}"
            assert time.monotonic() < deadline, f"the service does not serve:\n{self.said}"
            await asyncio.sleep(0.02)

    async def health(self, name: str = "") -> int | None:
        """What its health says of the whole server, or of what is named; None when nobody answers."""
        try:
            return await health_at(self.address, name, within_s=1.0)
        except aio.AioRpcError:
            return None

    async def kill(self) -> None:
        """Ends it as a crash of the machine would, and returns when it has gone."""
        self._popen.kill()
        await self.ends()

    def terminate(self) -> None:
        """Asks it to end in order."""
        self._popen.terminate()

    def send(self, number: signal.Signals) -> None:
        """Sends it a signal."""
        self._popen.send_signal(number)

    async def pause(self) -> None:
        """Makes it stand still, its connections open."""
        self._popen.send_signal(signal.SIGSTOP)
        await eventually(lambda: process_table.is_stopped(self.pid), "the service stands still")

    def resume(self) -> None:
        """Lets it go on."""
        self._popen.send_signal(signal.SIGCONT)

    async def ends(self, within_s: float = WITHIN_S) -> int:
        """The exit code, once it has ended."""
        await eventually(lambda: self.exit_code is not None, "the service ends", within_s)
        assert self.exit_code is not None
        return self.exit_code

    def clear_away(self) -> None:
        """Ends it, in whatever state it is."""
        self._popen.kill()
        self._popen.communicate()


class Processes:
    """Starts processes of one installation, each with the same settings but for those it is given."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self._folder = folder
        self._settings = settings
        self._started: list[ServiceProcess] = []

    def start(
        self,
        settings: Mapping[str, str] | None = None,
        *,
        address: str = "",
        environment: Mapping[str, str] | None = None,
    ) -> ServiceProcess:
        """Starts one more; `settings` are named as in `authority.config`."""
        given = {f"AUTHORITY_{name.upper()}": value for name, value in (settings or {}).items()}
        everything = {**self._settings, **(environment or {}), **given}
        process = ServiceProcess.start(self._folder, everything, address=address)
        self._started.append(process)
        return process

    async def serving(self, settings: Mapping[str, str] | None = None, *, address: str = "") -> ServiceProcess:
        """Starts one more, and returns once it serves."""
        process = self.start(settings, address=address)
        await process.serving()
        return process

    async def serving_many(self, count: int) -> tuple[ServiceProcess, ...]:
        """Starts so many at once, and returns once all serve."""
        started = tuple(self.start() for _ in range(count))
        for process in started:
            await process.serving()
        return started

    async def again(self, ended: ServiceProcess) -> ServiceProcess:
        """Starts one where another has ended, at the same address."""
        return await self.serving(address=ended.address)

    def clear_away(self) -> None:
        """Ends all that still run."""
        while self._started:
            self._started.pop().clear_away()


@contextmanager
def processes_of(folder: Path, settings: Mapping[str, str]) -> Iterator[Processes]:
    """Processes that have all ended when the block has."""
    processes = Processes(folder, settings)
    try:
        yield processes
    finally:
        processes.clear_away()
