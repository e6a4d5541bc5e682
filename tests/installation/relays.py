"""Processes of the relay, started as an operator starts them, and ended whatever a test did to them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from tests.installation.installation import Installation
from tests.installation.processes import WITHIN_S, eventually


class RelayProcess:
    """One process of `authority relay`."""

    def __init__(self, popen: subprocess.Popen[str], log: Path) -> None:
        self._popen = popen
        self._log = log

    @classmethod
    def start(cls, folder: Path, environment: Mapping[str, str], number: int) -> Self:
        """Starts it; ask `delivering` when it is at work."""
        log = folder / f"relay-{number}.log"
        with log.open("wb") as output:
            popen = subprocess.Popen(
                [sys.executable, "-m", "authority.cli", "relay", "--json"],
                cwd=folder,
                env={"HOME": str(folder), "PATH": os.defpath, "LANG": "C.UTF-8", **environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
                start_new_session=True,
            )
        return cls(popen, log)

    @property
    def said(self) -> str:
        """All that it has written but its answer."""
        return self._log.read_text(encoding="utf-8")

    async def delivering(self) -> None:
        """Returns once it is at work; fails, with what it wrote, when it has ended."""
        await eventually(lambda: "delivering to" in self.said or self._popen.poll() is not None, "the relay is at work")
        assert self._popen.poll() is None, self.said

    async def kill(self) -> None:
        """Ends it as a crash of the machine would."""
        self._popen.kill()
        await eventually(lambda: self._popen.poll() is not None, "the relay ends")

    async def stop(self) -> dict[str, Any]:
        """Ends it in order; what it says it has done."""
        self._popen.terminate()
        await eventually(lambda: self._popen.poll() is not None, "the relay ends")
        out, _ = self._popen.communicate(timeout=WITHIN_S)
        assert self._popen.returncode == 0, self.said
        done: dict[str, Any] = json.loads(out)
        return done

    def clear_away(self) -> None:
        """Ends it, in whatever state it is."""
        self._popen.kill()
        self._popen.communicate()


class Relays:
    """Starts relays of one installation, each with the same settings but for those it is given."""

    def __init__(self, installation: Installation, settings: Mapping[str, str]) -> None:
        self._installation = installation
        self._settings = settings
        self._started: list[RelayProcess] = []

    async def delivering(self) -> RelayProcess:
        """Starts one more, and returns once it is at work."""
        given = {f"AUTHORITY_{name.upper()}": value for name, value in self._settings.items()}
        environment = {**self._installation.settings(), **given}
        relay = RelayProcess.start(self._installation.folder, environment, len(self._started))
        self._started.append(relay)
        await relay.delivering()
        return relay

    def clear_away(self) -> None:
        """Ends all that still run."""
        while self._started:
            self._started.pop().clear_away()


@contextmanager
def relays_of(installation: Installation, settings: Mapping[str, str]) -> Iterator[Relays]:
    """Relays that have all ended when the block has."""
    relays = Relays(installation, settings)
    try:
        yield relays
    finally:
        relays.clear_away()
