"""What PostgreSQL and Valkey have in common: a folder, a port, a log, a life."""

import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Final, Self

from authority.embedded.account import Account, account_for
from authority.embedded.errors import StartFailed
from authority.embedded.folder_claim import FolderClaim
from authority.embedded.log_file import LogFile
from authority.embedded.ports import free_port
from authority.embedded.private_files import server_folder
from authority.embedded.process import Process

_READY_WITHIN_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 0.01
_PORT_TAKEN: Final = "Address already in use"  # strerror of EADDRINUSE, in the log of either server.
_PORTS_TRIED: Final = 10


class Server(ABC):
    """A server of a data folder, running from `start` to `stop`. Not for use by several threads at once.

    In the data folder it keeps `<name>/`, owned by the user it runs as, and `<name>.password`, `<name>.log`,
    `<name>.lock`. It listens on 127.0.0.1 only. It also ends, in order, when our process ends, even by kill -9.
    """

    name: ClassVar[str]
    _stops: ClassVar[Sequence[tuple[signal.Signals, float]]]
    """Signals that ask for a stop, the gentlest first, each with the seconds to wait for it, before SIGKILL.

    The first is also sent when we end without `stop`, and must do no harm when it comes twice.
    """

    def __init__(self, data: Path, *, port: int | None) -> None:
        self.data = data.absolute()
        self.folder = self.data / self.name
        self.log = LogFile(self.data / f"{self.name}.log")
        self._password_file = self.data / f"{self.name}.password"
        self._claim = FolderClaim(self.data / f"{self.name}.lock", self.folder)
        self._process: Process | None = None
        self._port = port

    @property
    @abstractmethod
    def url(self) -> str:
        """Where and with which password to connect; stays the same over `restart`."""

    @abstractmethod
    def _prepare(self, account: Account) -> None:
        """Make the folder ready for a start, while nothing else uses it."""

    @abstractmethod
    def _command(self, account: Account, port: int) -> Sequence[str]:
        """The program and its arguments, to be run in the folder."""

    @abstractmethod
    def _is_ready(self, pid: int) -> bool:
        """Whether this very process serves clients now."""

    def _standard_input(self, _port: int) -> bytes:
        return b""

    @property
    def port(self) -> int:
        """The port of 127.0.0.1 that it listens on."""
        assert self._port is not None
        return self._port

    @property
    def pid(self) -> int:
        """The process id of the server, of PostgreSQL the postmaster's; another one after each start."""
        return self._running_process().pid

    @property
    def is_running(self) -> bool:
        """Whether the server's process lives; a paused one does."""
        return self._process is not None and self._process.exit_code is None

    def start(self) -> None:
        """Start, on the port of the last start if there was one; returns when it serves clients. Nothing when it runs.

        Raises:
            EmbeddedError: As `start_postgres` and `start_valkey` say.
        """
        if self.is_running:
            return
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._claim.take()
        try:
            account = account_for(self.folder)
            self._prepare(account)
            server_folder(self.folder, account)
            self._start_on_a_port(account)
        except BaseException:
            self._claim.release()
            raise

    def stop(self) -> None:
        """Stop in order, by harsher signals if that takes too long, and give up the folder."""
        try:
            self._end()
        finally:
            self._claim.release()

    def restart(self) -> None:
        """Stop in order, unless it is stopped or killed, and start on the same port.

        Raises:
            EmbeddedError: As at the first start; another process has taken the port, for example.
        """
        self._end()
        self.start()

    def kill(self) -> None:
        """End all its processes by SIGKILL, as a crash of the machine would, and return when the last has gone."""
        self._running_process().kill()
        self._process = None
        self._claim.renew()

    def pause(self) -> None:
        """Make it hang by SIGSTOP: all its processes stand still, connections stay open, nothing is answered."""
        self._running_process().pause()

    def resume(self) -> None:
        """Let it go on after `pause`; nothing otherwise."""
        self._running_process().resume()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _running_process(self) -> Process:
        if self._process is None:
            raise RuntimeError(f"the {self.name} server of {self.data} is not running")
        return self._process

    def _start_on_a_port(self, account: Account) -> None:
        for attempt in count(1):
            port = self._port or free_port()
            process = self._run(self._command(account, port), account, self.folder, self._standard_input(port))
            try:
                self._await_ready(process)
            except StartFailed:
                if self._port or attempt == _PORTS_TRIED or _PORT_TAKEN not in self.log.tail():
                    raise
                continue
            self._port, self._process = port, process
            return

    def _run(
        self,
        command: Sequence[str],
        account: Account,
        folder: Path,
        standard_input: bytes = b"",
        keep_open: Sequence[int] = (),
    ) -> Process:
        """Start a program in a folder with its output in the log; it and its children hold the claim."""
        output = self.log.open()
        try:
            return Process.start(
                command,
                account=account,
                folder=folder,
                output=output,
                orphan_signal=self._stops[0][0],
                keep_open=[self._claim.descriptor, *keep_open],
                standard_input=standard_input,
            )
        finally:
            os.close(output)

    def _await_ready(self, process: Process) -> None:
        deadline = time.monotonic() + _READY_WITHIN_SECONDS
        with process.killed_on_failure():
            while not self._is_ready(process.pid):
                if process.ends_within(_POLL_SECONDS):
                    raise self._failure(f"ended at once (exit code {process.exit_code})")
                if time.monotonic() > deadline:
                    raise self._failure(f"was not ready within {_READY_WITHIN_SECONDS:.0f} s")

    def _failure(self, what: str) -> StartFailed:
        return StartFailed(f"the embedded {self.name} server {what}; the end of {self.log.path}:\n{self.log.tail()}")

    def _end(self) -> None:
        process = self._process
        if process is None:
            return
        process.resume()
        for number, seconds in self._stops:
            process.send(number)
            if process.ends_within(seconds):
                break
        else:
            process.kill()
        self._process = None
