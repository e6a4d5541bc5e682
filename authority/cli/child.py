"""A served authority in a process of its own, which ends with this one, however this one ends."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from authority.cli.failures import Refused

_ENDS_WITHIN_S: Final = 60.0
_LOG: Final = "serve.log"
_SHOWN_LINES: Final = 20


@contextlib.contextmanager
def served(data: Path) -> Iterator[str]:
    """The address of an embedded authority of the data folder, served by a child for as long as the block lasts.

    The child holds the reading end of a pipe that nobody writes to: when this process ends, be it by SIGKILL, the pipe
    ends too and the child stops in order. It is out of reach of the terminal's Ctrl-C, so that this process, which gets
    it, stops the child when it is ready to. Raises Refused, with the end of the child's log, when it does not start.
    """
    place = ["--data", str(data), "--listen", "127.0.0.1:0"]
    with (data / _LOG).open("wb") as log:
        child = subprocess.Popen(  # noqa: S603 - this very program
            [sys.executable, "-P", "-m", "authority.cli", "serve", "--until-input-ends", "--json", *place],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            env={name: value for name, value in os.environ.items() if not name.upper().startswith("AUTHORITY_")},
        )
    try:
        yield _address(child, data / _LOG)
    finally:
        _end(child)


def _address(child: subprocess.Popen[bytes], log: Path) -> str:
    assert child.stdout is not None
    line = child.stdout.readline()
    if not line:
        child.wait()
        tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_SHOWN_LINES:]
        raise Refused("\n".join([f"the service did not start (exit code {child.returncode}):", *tail]))
    address: str = json.loads(line)["address"]
    return address


def _end(child: subprocess.Popen[bytes]) -> None:
    assert child.stdin is not None
    assert child.stdout is not None
    child.terminate()  # The end of the pipe is noticed only once it serves.
    child.stdin.close()
    child.stdout.close()
    try:
        child.wait(_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        child.kill()  # Its servers end with it.
        child.wait()
