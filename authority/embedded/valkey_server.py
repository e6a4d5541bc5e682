"""The embedded Valkey, which speaks the Redis protocol."""

import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from authority.embedded.account import Account
from authority.embedded.binaries import valkey_program
from authority.embedded.ports import ADDRESS
from authority.embedded.private_files import read_or_make_password
from authority.embedded.server import Server

_SETTINGS: Final = {
    "bind": ADDRESS,
    "protected-mode": "yes",
    "daemonize": "no",
    "logfile": '""',  # To standard output, which is the log.
    "appendonly": "yes",
    "save": '""',
    "maxmemory": "256mb",
    "maxmemory-policy": "noeviction",
}
_READY: Final = "Ready to accept connections"
"""Logged once it listens and has loaded its data; a probe might tell a stranger on the port the password."""


class ValkeyServer(Server):
    """A running Valkey; `settings` are configuration directives that add to ours or replace them.

    What it acknowledged is appended to a file, written to disk every second. At 256 MB it refuses writes.
    """

    name = "valkey"
    _stops = ((signal.SIGTERM, 20.0),)

    def __init__(self, data: Path, *, settings: Mapping[str, str] | None = None, port: int | None = None) -> None:
        self._settings = {**_SETTINGS, **(settings or {})}
        self._password = ""
        super().__init__(data, port=port)

    @property
    def url(self) -> str:
        """For the default user, to database 0."""
        return f"redis://:{self._password}@{ADDRESS}:{self.port}/0"

    def _prepare(self, _account: Account) -> None:
        self._password = read_or_make_password(self._password_file)

    def _command(self, account: Account, _port: int) -> Sequence[str]:
        return [str(valkey_program(account)), "-"]

    def _standard_input(self, port: int) -> bytes:
        """The configuration: neither the process list nor a file shows the password."""
        settings = {**self._settings, "port": str(port), "requirepass": self._password}
        return "".join(f"{name} {value}\n" for name, value in settings.items()).encode()

    def _is_ready(self, _pid: int) -> bool:
        return _READY in self.log.written()


def start_valkey(data: Path, *, settings: Mapping[str, str] | None = None, port: int | None = None) -> ValkeyServer:
    """Start Valkey on a data folder, made if missing; returns when it serves clients.

    Without `port` a free one is chosen, and another if that is taken meanwhile.

    Raises:
        EmbeddedUnavailable: This machine cannot run it.
        FolderInUse: Another process runs a server on the folder.
        FolderUnusable: The folder is another user's.
        StartFailed: It did not start.
    """
    server = ValkeyServer(data, settings=settings, port=port)
    server.start()
    return server
