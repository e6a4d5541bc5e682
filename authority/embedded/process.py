"""One program started by us, in its own session, that ends when we end."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Final

from authority.embedded import launch, process_table
from authority.embedded.account import Account

_ENVIRONMENT: Final = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
"""All of it: neither PG* variables nor a locale of ours reach a server, and its messages are English."""
_POLL_SECONDS: Final = 0.002
_SIGNALLED_WITHIN_SECONDS: Final = 5.0


class _Starter:
    """A thread that starts every child and lives as long as we do.

    The parent-death signal comes when the *thread* that started a child ends, so a server started from a short-lived
    thread would stop with it.
    """

    def __init__(self) -> None:
        self._orders: SimpleQueue[tuple[Callable[[], subprocess.Popen[bytes]], Future[subprocess.Popen[bytes]]]]
        self._orders = SimpleQueue()
        threading.Thread(target=self._run, name="embedded-server-starter", daemon=True).start()

    def _run(self) -> None:
        while True:
            start, result = self._orders.get()
            try:
                result.set_result(start())
            except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
                result.set_exception(error)

    def start(self, start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        result: Future[subprocess.Popen[bytes]] = Future()
        self._orders.put((start, result))
        try:
            return result.result()
        except BaseException:  # Ctrl-C while waiting: the child that still comes must not be left alone.
            result.add_done_callback(_kill_result)
            raise


def _kill_result(result: Future[subprocess.Popen[bytes]]) -> None:
    if result.exception() is None:
        result.result().kill()
        result.result().wait()


@cache
def _starter() -> _Starter:
    return _Starter()


os.register_at_fork(after_in_child=_starter.cache_clear)  # A forked child of ours has not got the thread.


class Process:
    """A running program with its descendants."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self._popen = popen
        self._paused = False

    @classmethod
    def start(
        cls,
        command: Sequence[str],
        *,
        account: Account,
        folder: Path,
        output: int,
        orphan_signal: signal.Signals,
        keep_open: Sequence[int] = (),
        standard_input: bytes = b"",
    ) -> "Process":
        """Start a program as `account` with `folder` as its current one, which the account need not reach by path.

        It is sent `orphan_signal`, perhaps more than once, when we end. Standard output and error go to the file
        descriptor `output`; those in `keep_open` are inherited.

        Raises:
            OSError: The program could not be started at all.
        """
        numbers = (os.getpid(), int(orphan_signal), account.uid, account.gid)
        prefix = [sys.executable, "-I", "-S", launch.__file__, *map(str, numbers)]

        def start() -> subprocess.Popen[bytes]:
            return subprocess.Popen(  # noqa: S603 - our own launcher
                [*prefix, *command],
                cwd=folder,
                env=_ENVIRONMENT,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                pass_fds=keep_open,
                start_new_session=True,  # A terminal's Ctrl-C must reach us alone, so that we stop in order.
            )

        popen = _starter().start(start)
        assert popen.stdin is not None
        with contextlib.suppress(BrokenPipeError), popen.stdin:
            popen.stdin.write(standard_input)
        return cls(popen)

    @property
    def pid(self) -> int:
        """The process id; that of the program itself, since the launcher becomes it."""
        return self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._popen.poll()

    def ends_within(self, seconds: float) -> bool:
        """Wait for the end at most so long; True when it has come."""
        try:
            self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the program alone; nothing happens when it has ended."""
        self._popen.send_signal(number)

    def pause(self) -> None:
        """Stop the program and its descendants where they are (SIGSTOP); returns when all of them stand still."""
        self._paused = True
        self.send(signal.SIGSTOP)
        _await(process_table.is_stopped, [self.pid])  # From here on it starts no more children.
        family = process_table.descendants(self.pid)
        _signal_each(family, signal.SIGSTOP)
        _await(process_table.is_stopped, family)

    def resume(self) -> None:
        """Let them go on (SIGCONT)."""
        if self._paused:
            _signal_each(process_table.descendants(self.pid), signal.SIGCONT)
            self.send(signal.SIGCONT)
            self._paused = False

    @contextlib.contextmanager
    def killed_on_failure(self) -> Iterator[None]:
        """Kill it when the block is left by any exception, Ctrl-C included."""
        try:
            yield
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """End the program and its descendants by SIGKILL, as a machine's crash would; returns when all have gone."""
        family = process_table.descendants(self.pid) if self.exit_code is None else []
        self.send(signal.SIGKILL)
        _signal_each(family, signal.SIGKILL)
        self._popen.wait()
        _await(process_table.has_ended, family)


def _signal_each(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _await(state: Callable[[int], bool], pids: Sequence[int]) -> None:
    deadline = time.monotonic() + _SIGNALLED_WITHIN_SECONDS
    while not all(state(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
