"""The program as a person runs it: in processes of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

AUTHORITY: Final = str(Path(sys.executable).with_name("authority"))
WITHIN_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Served:
    """A process of `authority serve` that says where it serves, on a data folder."""

    process: subprocess.Popen[str]
    data: Path
    address: str

    def stop(self, number: signal.Signals) -> tuple[int, str]:
        """Sends the signal; answers with the exit code and all that it wrote to standard error."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=WITHIN_S)
        return self.process.returncode, errors


def environment(**settings: str) -> dict[str, str]:
    """Ours without any setting of an authority, and these."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("AUTHORITY_")}
    return {**ours, **settings}


def authority(*arguments: str, cwd: Path, text: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
    """Runs `authority ARGUMENTS…` to its end, with `text` on standard input."""
    return subprocess.run(
        [AUTHORITY, *arguments],
        cwd=cwd,
        env=environment(**settings),
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=WITHIN_S,
    )


@contextmanager
def serving(data: Path, *arguments: str, settings: Mapping[str, str] | None = None) -> Iterator[Served]:
    """`authority serve` on the folder and a free port. Whatever is left of it at the end is stopped."""
    command = [AUTHORITY, "serve", "--data", str(data), "--listen", "127.0.0.1:0", "--json", *arguments]
    with started(command, data.parent, settings or {}) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.stderr and process.stderr.read()
        yield Served(process, data, json.loads(line)["address"])


@contextmanager
def started(command: list[str], cwd: Path, settings: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A process with pipes; whatever is left of it at the end is stopped."""
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=environment(**settings),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
                process.communicate(timeout=WITHIN_S)


def document(done: subprocess.CompletedProcess[str]) -> Any:
    """The one JSON document on its standard output."""
    return json.loads(done.stdout)
