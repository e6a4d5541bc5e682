"""`authority call StreamCommitValidated`: a request on each line of what comes in, an outcome on each that goes out."""

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any, BinaryIO, Final

from google.protobuf.json_format import MessageToDict

from authority.cli.connecting import Caller
from authority.cli.failures import Misused
from authority.cli.output import Json, emit
from capability_authority.client import AuthorityError, CapabilityAuthority
from capability_authority.client.streams import STREAM_WINDOW

Parse = Callable[[str, str], Any]
"""Reads one request from its text; the second argument is what to name when it is none. Raises Misused."""
Tell = Callable[[AuthorityError], "dict[str, Json]"]
"""The parts of a refusal, for machines."""

_MOST_BYTES: Final = 8 * 1024 * 1024
_INPUT: Final = "-"


async def call_stream(source: str, caller: Caller, parse: Parse, tell: Tell, timeout: float) -> bool:  # noqa: ASYNC109 - of each
    """Commits a line at a time for as long as they come, and says whether every one was.

    A request without a tag has the number of its line. Outcomes are written as they are settled, each in one line with
    the tag of its request: `result`, or `error` as a call's. Raises Misused for a line that is no request, once what
    came before is answered; AuthorityError when the stream itself is refused.
    """
    connection = CapabilityAuthority.connect(credentials=caller.credentials, tls=caller.tls, timeout=timeout)
    all_committed = True
    async with connection as authority, aclosing(authority.commit_requests(_requests(source, parse))) as answers:
        async for tag, answer in answers:
            if isinstance(answer, AuthorityError):
                all_committed, said = False, tell(answer)
            else:
                said = {"result": MessageToDict(answer, preserving_proto_field_name=True)}
            emit({"tag": tag, **said}, in_one_line=True)
    return all_committed


async def _requests(source: str, parse: Parse) -> AsyncIterator[Any]:
    number = 0
    async for line in _lines(source):
        number += 1
        if not line.strip():
            continue
        if len(line) > _MOST_BYTES:
            raise Misused(f"line {number} of --json has more than {_MOST_BYTES:,} bytes")
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise Misused(f"line {number} of --json is not UTF-8") from None
        request = parse(text, f"line {number} of --json")
        request.tag = request.tag or number
        yield request


async def _lines(source: str) -> AsyncIterator[bytes]:
    """The lines of a request that is given, of a file, or of standard input, as they come and as there is room."""
    if source.lstrip().startswith("{"):
        yield source.encode()
        return
    loop, come, room = asyncio.get_running_loop(), asyncio.Queue[bytes](), threading.Semaphore(STREAM_WINDOW)

    def read(file: BinaryIO) -> None:
        with contextlib.suppress(RuntimeError), file:  # Nobody waits for them any more.
            for line in iter(lambda: file.readline(_MOST_BYTES + 1), b""):
                room.acquire()
                loop.call_soon_threadsafe(come.put_nowait, line)
            loop.call_soon_threadsafe(come.put_nowait, b"")

    # A thread that nobody joins: who is stopped does not wait for another line.
    threading.Thread(target=read, args=(_opened(source),), daemon=True).start()
    while line := await come.get():
        room.release()
        yield line


def _opened(source: str) -> BinaryIO:
    try:
        # Not Python's own standard input, which it would wait for at its end.
        return os.fdopen(os.dup(sys.stdin.fileno()), "rb") if source == _INPUT else Path(source).open("rb")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise Misused(f"--json is neither JSON that begins with a brace nor a file ({why})") from None
