"""A target that is started for the run: `--serve COMMAND` (conformance/README.md)."""

import asyncio
import json
import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from capability_authority_conformance.problems import TargetUnusable

__all__ = ["served"]

_STARTS_WITHIN_S: Final = 120.0
_ENDS_WITHIN_S: Final = 60.0
_SHOWN_LINES: Final = 20


@asynccontextmanager
async def served(command: str, setup: Path, log: Path) -> AsyncIterator[str]:
    """Where the command serves, for as long as the block lasts; it ends when its standard input does.

    The command gets the path of `setup.json` as its last argument, and is out of reach of the terminal's Ctrl-C, so
    that what ran can still be reported. What it says on standard error goes to `log`. Raises `TargetUnusable`.
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
        except OSError as error:
            raise TargetUnusable(f"`{command}` cannot be run: {error}", "mend the command of --serve") from None
    try:
        yield await _target(command, process, log)
    finally:
        await asyncio.shield(_stopped(process))


async def _target(command: str, process: asyncio.subprocess.Process, log: Path) -> str:
    assert process.stdout is not None
    try:
        async with asyncio.timeout(_STARTS_WITHIN_S):
            line = await process.stdout.readline()
    except TimeoutError:
        raise TargetUnusable(
            f"`{command}` did not say within {_STARTS_WITHIN_S:.0f} s where it serves", _tail(log)
        ) from None
    try:
        target = json.loads(line)["target"]
    except (ValueError, KeyError, TypeError):
        code = f", exit code {await process.wait()}" if not line else f": {line[:200]!r}"
        raise TargetUnusable(
            f'`{command}` did not print {{"target": "host:port", ...}} as its first line{code}', _tail(log)
        ) from None
    return str(target)


async def _stopped(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(_ENDS_WITHIN_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _tail(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").splitlines()[-_SHOWN_LINES:]
    return "\n  ".join(["it said:", *lines]) if lines else "it said nothing on standard error"
