"""A server that is gone without a word: a partition, or a machine without power, breaks no connection by itself."""

import os
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from tests.integration.postgres.forwarder import Forwarder

LONGEST_S = 20
PATIENCE = ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT")


def patience_towards(port: int) -> list[dict[str, int]]:
    """How long the kernel waits for whoever is at the port, for each of this process's connections to it."""
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            copy = socket.socket(fileno=os.dup(int(entry.name)))
        except OSError:
            continue  # No socket, or closed meanwhile.
        with copy:
            if copy.family == socket.AF_INET and _is_connected_to(port, copy):
                asked = {name: copy.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) for name in PATIENCE}
                found.append(asked | {"SO_KEEPALIVE": copy.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)})
    return found


def _is_connected_to(port: int, line: socket.socket) -> bool:
    try:
        return bool(line.getpeername()[1] == port)
    except OSError:
        return False


@pytest.mark.parametrize("power", Power)
async def test_the_kernel_gives_a_silent_server_up_within_seconds(postgres_url: str, power: Power) -> None:
    # given a connection of this power to an address that nobody else connects to
    async with Forwarder(postgres_url) as forwarder:
        database = Database(await connect_pool(PoolSettings(forwarder.url, power, most=1)))
        try:
            await database.ask("select 1")

            # when the kernel is asked how long it waits for a server that says nothing
            [patience] = patience_towards(int(urlsplit(forwarder.url).port or 0))
        finally:
            await database.close()

    # then it is not for long, be it to acknowledge what was sent or to show that it is there
    assert 0 < patience["TCP_USER_TIMEOUT"] <= LONGEST_S * 1_000
    assert patience["SO_KEEPALIVE"]
    assert patience["TCP_KEEPIDLE"] + patience["TCP_KEEPINTVL"] * patience["TCP_KEEPCNT"] <= LONGEST_S
