"""A target that is started for the run: `--serve COMMAND` (conformance/README.md)."""

import asyncio
import json
import os
import shlex
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from capability_authority_conformance.problems import TargetUnusable

__all__ = ["served"]

_STARTS_WITHIN_S: Final = 120.0
_ENDS_WITHIN_S: Final = 60.0
_SHOWN_LINES: Final = 20
_SHOWN_BYTES: Final = 16 * 1024
_READ_BYTES: Final = 64 * 1024


@asynccontextmanager
async def served(command: str, setup: Path, log: Path) -> AsyncIterator[str]:
    """Where the command serves, for as long as the block lasts; it ends when its standard input does.

    The command gets the path of `setup.json` as its last argument, and is out of reach of the terminal's Ctrl-C, so
    that what ran can still be reported. What it says on standard error goes to `log`, and what it says on standard
    output after its first line nowhere. Raises `TargetUnusable`.
    """
    with log.open("wb") as errors:
        try:
            process = await asyncio.create_subprocess_exec(
                *shlex.split(command),
                str(setup),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise TargetUnusable(f"`{command}` cannot be run: {error}", "mend the command of --serve") from None
    reading: asyncio.Task[None] | None = None
    try:
        target = await _target(command, process, log)
        reading = asyncio.create_task(_read_on(process))
        yield target
    finally:
        await asyncio.shield(_stopped(process))
        if reading is not None:
            reading.cancel()


async def _target(command: str, process: asyncio.subprocess.Process, log: Path) -> str:
    assert process.stdout is not None
    try:
        async with asyncio.timeout(_STARTS_WITHIN_S):
            line = await process.stdout.readline()
            code = "" if line else f", exit code {await process.wait()}"
    except TimeoutError:
        raise TargetUnusable(
            f"`{command}` did not say within {_STARTS_WITHIN_S:.0f} s where it serves", _tail(log)
        ) from None
    except ValueError:
        raise _not_said(command, ": it is endless", log) from None
    try:
        target = json.loads(line)["target"]
    except (ValueError, LookupError, TypeError, RecursionError):
        target = None
    if not isinstance(target, str):
        raise _not_said(command, code or f": {line[:200]!r}", log)
    return target


def _not_said(command: str, instead: str, log: Path) -> TargetUnusable:
    return TargetUnusable(
        f'`{command}` did not print {{"target": "host:port", ...}} as its first line{instead}', _tail(log)
    )


async def _read_on(process: asyncio.subprocess.Process) -> None:
    """Reads what else it prints, for whoever prints into a full pipe waits and serves nobody."""
    assert process.stdout is not None
    while await process.stdout.read(_READ_BYTES):
        pass


async def _stopped(process: asyncio.subprocess.Process) -> None:
    """Waits for its end; what does not end in time is killed, with all that it started in its session."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(_ENDS_WITHIN_S):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _tail(log: Path) -> str:
    with log.open("rb") as written:
        written.seek(max(log.stat().st_size - _SHOWN_BYTES, 0))
        lines = written.read(_SHOWN_BYTES).decode("utf-8", "replace").splitlines()[-_SHOWN_LINES:]
    return "\n  ".join(["it said:", *lines]) if lines else "it said nothing on standard error"
