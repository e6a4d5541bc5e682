"""Runs a command in this process, as the console script does."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from authority.cli.app import run


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)

    @property
    def sentence(self) -> str:
        """The one sentence on standard error, after the name of the program."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("authority: ")
        return lines[0].removeprefix("authority: ")


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> Ran:
    """Runs `authority ARGUMENTS…`."""
    capsys.readouterr()
    code = run(arguments)
    captured = capsys.readouterr()
    return Ran(code, captured.out, captured.err)
