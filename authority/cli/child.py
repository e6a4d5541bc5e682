"""A served authority in a process of its own, which ends with this one, however this one ends."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

from authority.cli.failures import Refused

_ENDS_WITHIN_S: Final = 60.0
_LOG: Final = "serve.log"
_SHOWN_LINES: Final = 20


@contextlib.contextmanager
def served(data: Path) -> Iterator[str]:
    """The address of an embedded authority of the data folder, served by a child for as long as the block lasts.

    Raises Refused, with the end of the child's log, when it does not start.
    """
    child = Child.start(["--data", str(data), "--listen", "127.0.0.1:0"], data / _LOG)
    try:
        yield child.address
    finally:
        child.end()


class Child:
    """`authority serve` as a child of this process.

    It holds the reading end of a pipe that nobody writes to: when this process ends, be it by SIGKILL, the pipe ends
    too and the child stops in order. It is out of reach of the terminal's Ctrl-C, so that this process, which gets it,
    stops the child when it is ready to.
    """

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self._process = process
        self._log = log
        self.address = ""
        """Where it listens, once it does."""

    @classmethod
    def start(cls, arguments: Sequence[str], log: Path, settings: Mapping[str, str] | None = None) -> Self:
        """One that serves, with no other setting of an authority than these. Raises Refused, with the log's end."""
        bare = {name: value for name, value in os.environ.items() if not name.upper().startswith("AUTHORITY_")}
        with log.open("ab") as output:
            process = subprocess.Popen(  # noqa: S603 - this very program
                [sys.executable, "-P", "-m", "authority.cli", "serve", "--until-input-ends", "--json", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                start_new_session=True,
                env={**bare, **(settings or {})},
            )
        child = cls(process, log)
        try:
            child.address = child._read_address()
        except BaseException:
            child.end()
            raise
        return child

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def kill(self) -> None:
        """End it as a crash would, and return when it has gone."""
        self._process.kill()
        self._process.wait()
        self._close_pipes()

    def end(self) -> None:
        """End it in order, or by force when that takes too long. Ending again does nothing."""
        if self._process.poll() is None:
            self._process.terminate()  # The end of the pipe is noticed only once it serves.
        self._close_pipes()
        try:
            self._process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()  # Its servers end with it.
            self._process.wait()

    def _read_address(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            tail = self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-_SHOWN_LINES:]
            raise Refused("\n".join([f"the service did not start (exit code {code}):", *tail]))
        address: str = json.loads(line)["address"]
        return address

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
