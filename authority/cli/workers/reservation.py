"""A TCP port that is held without listening, so that our workers alone may listen there, now and after a restart."""

import contextlib
import errno
import socket
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from authority.cli.failures import Misused
from authority.cli.serving import cannot_listen

_Address: TypeAlias = tuple[Any, ...]

_ABSENT: Final = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
"""`localhost` may name ::1 where nothing speaks IPv6."""


@contextlib.contextmanager
def reserved(listen: str) -> Iterator[int]:
    """The port of `HOST:PORT`, port 0 drawing a free one, held as long as the block lasts.

    Only processes of our own user that ask for SO_REUSEPORT may bind it meanwhile. Raises Refused when anybody listens
    there or holds it as we do, and when the address is not this machine's; Misused for a Unix socket.
    """
    if listen.startswith("unix:"):
        raise Misused(f"several workers cannot share {listen}: listen on HOST:PORT, or with one worker")
    host, _, number = listen.rpartition(":")
    with contextlib.ExitStack() as stack:
        try:
            port = _hold_everywhere(stack, host.strip("[]"), int(number))
        except OSError as error:
            raise cannot_listen(listen) from error
        yield port


def _hold_everywhere(stack: contextlib.ExitStack, host: str, port: int) -> int:
    """Holds the port, or the one that is drawn, on every address of the host that this machine has, as gRPC will."""
    held, absent = 0, OSError(errno.EADDRNOTAVAIL, "the host has no address")
    for family, address in _places(host, port):
        try:
            held = stack.enter_context(_held(family, (address[0], held or port, *address[2:])))
        except OSError as error:
            if error.errno not in _ABSENT:
                raise
            absent = error
    if not held:
        raise absent
    return held


def _places(host: str, port: int) -> list[tuple[socket.AddressFamily, _Address]]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return [(family, address) for family, _, _, _, address in found]


@contextlib.contextmanager
def _held(family: socket.AddressFamily, address: _Address) -> Iterator[int]:
    with socket.socket(family, socket.SOCK_STREAM) as holder:
        # Else what is left of a predecessor's connections would keep us out for a minute.
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        port = _bind(holder, address)
        # Two that only bind get along under SO_REUSEADDR; of two that listen the kernel refuses one, unless both share.
        holder.listen(1)
        # From here on whoever binds must share, and be of our user. Then it listens no more, but stays bound.
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
        holder.shutdown(socket.SHUT_RDWR)
        yield port


def _bind(holder: socket.socket, address: _Address) -> int:
    """Binds by number, also what was drawn: a port that the bind itself draws is lost when listening ends."""
    host, port, *rest = address
    with socket.socket(holder.family, socket.SOCK_STREAM) as drawing:
        drawing.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if port == 0:
            drawing.bind(address)
            port = drawing.getsockname()[1]
        holder.bind((host, port, *rest))
    return int(port)
