"""A port of 127.0.0.1 to listen on."""

import contextlib
import secrets
import socket
from pathlib import Path
from typing import Final

ADDRESS: Final = "127.0.0.1"
_LOWEST: Final = 15_000
_EPHEMERAL_RANGE: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")
_EPHEMERAL_FROM: Final = 32_768
_TRIES: Final = 100


def free_port() -> int:
    """A port that nothing listens on now; whoever binds it must still be ready to find it taken.

    It lies below the range that the kernel gives to outgoing connections: a client that calls a stopped server again
    and again would otherwise sooner or later be given that very port as its own, be connected to itself, and keep the
    server from coming back.
    """
    above = _ephemeral_from()
    for _ in range(_TRIES if above > _LOWEST else 0):
        port = _LOWEST + secrets.randbelow(above - _LOWEST)
        with contextlib.suppress(OSError):
            return _bind(port)
    return _bind(0)


def _bind(port: int) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # As the servers do.
        probe.bind((ADDRESS, port))
        bound: int = probe.getsockname()[1]
        return bound


def _ephemeral_from() -> int:
    try:
        return int(_EPHEMERAL_RANGE.read_text(encoding="ascii").split()[0])
    except OSError:
        return _EPHEMERAL_FROM
