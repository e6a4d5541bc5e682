"""The service under measurement, started as an operator starts it."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ENDS_WITHIN_S: Final = 60.0
_LOG: Final = "service.log"


class ServiceFailed(Exception):
    """The service did not start, or ended early. The message holds the end of its log."""


@dataclass(frozen=True, slots=True)
class Served:
    """Where the service answers. All processes of it are `pid` and those below it."""

    address: str
    pid: int


@contextlib.contextmanager
def served(folder: Path, settings: Mapping[str, str], workers: int) -> Iterator[Served]:
    """The service on a free port of 127.0.0.1, for as long as the block lasts. Raises ServiceFailed.

    It notices by the end of its standard input when this process dies.
    """
    bare = {"HOME": str(folder), "PATH": os.defpath, "LANG": "C.UTF-8"}
    with (folder / _LOG).open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "authority.cli", "serve", "--until-input-ends", "--json", f"--workers={workers}"],
            cwd=folder,
            env={**bare, **settings, "AUTHORITY_LISTEN": "127.0.0.1:0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,  # Ctrl-C reaches us alone, so that all ends in order.
        )
    try:
        yield Served(_address(child, folder / _LOG), child.pid)
    finally:
        _end(child)


def _address(child: subprocess.Popen[bytes], log: Path) -> str:
    assert child.stdout is not None
    line = child.stdout.readline()
    if not line:
        raise ServiceFailed(f"the service did not start:\n{log.read_text(encoding='utf-8', errors='replace')}")
    address: str = json.loads(line)["address"]
    return address


def _end(child: subprocess.Popen[bytes]) -> None:
    assert child.stdin is not None
    assert child.stdout is not None
    child.terminate()
    child.stdin.close()
    child.stdout.close()
    try:
        child.wait(_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
