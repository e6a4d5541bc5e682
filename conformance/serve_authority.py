"""Serves a Capability Authority for one run of the conformance suite: the command behind `make conformance`.

    python -m capability_authority_conformance run --serve "python conformance/serve_authority.py"

Its last argument is the path of the suite's `setup.json`. It starts `authority serve` with a PostgreSQL and a Valkey of
its own in a throwaway folder and on a free port, has `authority provision` make the set-up, prints one line of JSON
(`target`, `issuer` and `audience`) and serves until its standard input ends or it is told to stop. It leaves nothing.

It runs `authority` as an operator does, and imports nothing of it: whichever `authority` stands beside this Python, or
first in PYTHONPATH, is the one that is judged.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Final

AUTHORITY: Final = str(Path(sys.executable).with_name("authority"))
ISSUER: Final = "authority.conformance"
AUDIENCE: Final = "ruflo.memory"
"""One that the published action envelopes are made for, so that cases can present them."""


def main() -> int:
    """Serves; the exit code of what ended first: the service, or the command that sets it up."""
    if len(sys.argv) != 2:  # noqa: PLR2004 - the command and its one argument
        print(__doc__, file=sys.stderr)
        return 2
    with contextlib.suppress(KeyboardInterrupt), tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        return _serve(Path(sys.argv[1]).absolute(), Path(folder))
    return 0


def _serve(set_up: Path, folder: Path) -> int:
    with _serving(folder) as service:
        assert service.stdout is not None
        line = service.stdout.readline()
        if not line:
            return service.wait() or 1
        provisioned = subprocess.run(
            [AUTHORITY, "provision", str(set_up), "--data", str(folder), "--json"],
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=False,
        )
        if provisioned.returncode:
            return provisioned.returncode
        print(json.dumps({"target": json.loads(line)["address"], "issuer": ISSUER, "audience": AUDIENCE}), flush=True)
        return service.wait()


@contextlib.contextmanager
def _serving(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The service, which reads our standard input and so ends with it even when we are killed."""
    command = ("serve", "--embedded", "--data", str(folder), "--listen", "127.0.0.1:0", "--json", "--until-input-ends")
    with (
        _told_to_stop(),
        subprocess.Popen([AUTHORITY, *command], env=_environment(), stdout=subprocess.PIPE, text=True) as service,
    ):
        try:
            yield service
        finally:
            service.terminate()
            service.wait()  # Its servers are still in the folder that is about to go.


@contextlib.contextmanager
def _told_to_stop() -> Iterator[None]:
    """SIGTERM ends the block as Ctrl-C does."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _environment() -> dict[str, str]:
    """Ours without settings of an authority: the one that is served has its own."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("AUTHORITY_")}
    return {**ours, "AUTHORITY_ISSUER": ISSUER, "AUTHORITY_AUDIENCE": AUDIENCE}


if __name__ == "__main__":
    sys.exit(main())
