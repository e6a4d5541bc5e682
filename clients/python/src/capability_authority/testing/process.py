"""The service as a process that ends with this one, however this one ends."""

import json
import os
import selectors
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

__all__ = ["AuthorityUnavailable", "ServiceProcess", "run_command"]

_STARTS_WITHIN_S: Final = 120.0
_ENDS_WITHIN_S: Final = 60.0
_COMMAND_WITHIN_S: Final = 60.0
_SHOWN_LINES: Final = 20
_PROGRAM: Final = (sys.executable, "-P", "-m", "authority.cli")
_REMEDY: Final = "remedy: pip install 'capability-authority[embedded]' into the environment of the tests"


class AuthorityUnavailable(RuntimeError):
    """The authority could not be had; the message says why and, where there is one, the remedy."""


class ServiceProcess:
    """`authority serve` on a data folder of its own and a free port of 127.0.0.1.

    It holds the reading end of a pipe that nobody writes to: when this process ends, be it by SIGKILL, the pipe ends
    too and the service stops in order, with the servers that it started. It is out of reach of the terminal's Ctrl-C,
    so that tests which are interrupted can still finish with it.
    """

    def __init__(self, data: Path) -> None:
        """Starts it, and returns once it serves. Raises `AuthorityUnavailable`."""
        if find_spec("authority") is None:
            raise AuthorityUnavailable(f"the Capability Authority's service is not installed here; {_REMEDY}")
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.log = data / "serve.log"
        with self.log.open("wb") as log:
            place = ("--data", str(data), "--listen", "127.0.0.1:0")
            self._process = subprocess.Popen(  # noqa: S603 - this very Python
                [*_PROGRAM, "serve", "--embedded", "--until-input-ends", "--json", *place],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                env=_environment(),
            )
        try:
            self.address = self._address()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End it in order, or by force when that takes too long. Stopping again does nothing."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        if process.poll() is None:
            process.terminate()  # The end of the pipe is noticed only once it serves.
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()  # Its servers end with it.
            process.wait()

    def _address(self) -> str:
        stdout = self._process.stdout
        assert stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            if not selector.select(_STARTS_WITHIN_S):
                raise AuthorityUnavailable(
                    f"the authority did not serve within {_STARTS_WITHIN_S:.0f} s\n{self._tail()}"
                )
        line = stdout.readline()
        if not line:
            code = self._process.wait()
            raise AuthorityUnavailable(f"the authority did not start (exit code {code}); {_REMEDY}\n{self._tail()}")
        address: str = json.loads(line)["address"]
        return address

    def _tail(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-_SHOWN_LINES:])


def run_command(*arguments: str) -> Any:  # noqa: ANN401 - whatever the JSON document holds
    """The JSON document that an operator's command answers with. Raises `AuthorityUnavailable` with what it says."""
    done = subprocess.run(  # noqa: S603 - this very Python
        [*_PROGRAM, *arguments, "--json"],
        env=_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=_COMMAND_WITHIN_S,
    )
    if done.returncode != 0:
        raise AuthorityUnavailable(f"`authority {' '.join(arguments)}` failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


def _environment() -> dict[str, str]:
    """Ours without any setting of an authority: tests never meet one that somebody works with."""
    return {name: value for name, value in os.environ.items() if not name.upper().startswith("AUTHORITY_")}
