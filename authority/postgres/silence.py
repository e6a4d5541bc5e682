"""Has the kernel notice a server that is gone without a word: a partition, a machine without power."""

import socket
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import asyncpg

_LONGEST_S: Final = 15
"""A statement that runs for longer breaks nothing: the server's kernel answers for it."""
_OPTIONS: Final = (
    (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
    # While nothing is sent: asked after five seconds, then every five.
    (socket.IPPROTO_TCP, "TCP_KEEPIDLE", 5),
    (socket.IPPROTO_TCP, "TCP_KEEPINTVL", 5),
    (socket.IPPROTO_TCP, "TCP_KEEPCNT", 2),
    # While what was sent is not acknowledged.
    (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", _LONGEST_S * 1_000),
)


def notice_silence(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Has the connection broken off once the server's machine has not answered for a quarter of a minute.

    What is sent has no time limit of ours (case C02), so without this whoever waits for an answer that was lost on its
    way would wait for ever, and the connection with it. Broken off, the outcome is unknown and asked for again.
    """
    # The driver has no setting for this, and nothing public to do it by. Linux has all of the options, others some.
    line = connection._transport.get_extra_info("socket")  # type: ignore[attr-defined]  # noqa: SLF001
    if line is None or line.family not in {socket.AF_INET, socket.AF_INET6}:
        return
    for level, name, value in _OPTIONS:
        if hasattr(socket, name):
            line.setsockopt(level, getattr(socket, name), value)
