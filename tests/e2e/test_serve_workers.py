"""`authority serve --workers N`: what it says, refuses and warns of, and how it ends."""

import asyncio
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from authority.cli.endpoint import find_endpoint
from authority.embedded import process_table
from tests.e2e.commands import AUTHORITY, WITHIN_S, authority, environment, started
from tests.e2e.test_serve import run_try
from tests.installation.installation import Installation
from tests.installation.processes import eventually

TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
"""Makes standard input the terminal that signals the program."""


def test_it_is_prepared_and_announced_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    command = [AUTHORITY, "serve", "--data", str(data), "--listen", "127.0.0.1:0", "--json", "--workers", "2"]
    with started(command, tmp_path, {}) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        # Given an authority that two workers serve, and a parent for all other purposes
        assert told["pid"] == process.pid == find_endpoint(data).pid
        assert told["address"] == find_endpoint(data).target
        assert len(set(told["workers"])) == 2
        assert set(told["workers"]) < set(process_table.descendants(process.pid))

        # When whole exchanges are made with it, then they are as ever
        for _ in range(2):
            done = run_try(data)
            assert (done.returncode, done.stderr) == (0, "")

        # And Ctrl-C ends all of it in order
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=WITHIN_S)
    assert (process.returncode, rest) == (0, "")
    assert all(process_table.has_ended(pid) for pid in told["workers"])
    assert not (data / "endpoint.json").exists()
    assert f"pid={process.pid}" in errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_can_be_ended_while_its_workers_begin(
    number: signal.Signals, installation: Installation, tmp_path: Path
) -> None:
    command = [AUTHORITY, "serve", "--listen", "127.0.0.1:0", "--workers", "2"]
    with started(command, tmp_path, installation.settings()) as process:
        # Given a parent that has just started its workers
        _until(lambda: len(process_table.descendants(process.pid)) == 2)
        workers = process_table.descendants(process.pid)
        # When it is asked to end
        process.send_signal(number)
        out, errors = process.communicate(timeout=WITHIN_S)
    # Then it does, and has announced nothing
    assert (process.returncode, out) == (0, "")
    assert errors.endswith("stopped\n")
    assert "worker ended" not in errors
    assert all(process_table.has_ended(pid) for pid in workers)


def test_what_keeps_every_worker_from_serving_is_told_once_and_tried_no_more(
    installation: Installation, tmp_path: Path
) -> None:
    # Given a secret that no worker takes
    keys = shutil.copytree(installation.keys, tmp_path / "keys")
    (keys / "page-tokens.key").write_bytes(bytes(32))
    (keys / "page-tokens.key").chmod(0o644)
    settings = {**installation.settings(), "AUTHORITY_KEYS": str(keys)}
    # When workers are to serve
    done = authority("serve", "--listen", "127.0.0.1:0", "--workers", "3", cwd=tmp_path, **settings)
    # Then it ends as one process would
    alone = authority("serve", "--listen", "127.0.0.1:0", cwd=tmp_path, **settings)
    assert (done.returncode, done.stdout) == (alone.returncode, alone.stdout) == (1, "")
    assert done.stderr.count("gives others rights on a secret; chmod 600 it") == 1
    assert done.stderr.splitlines()[-1] == alone.stderr.splitlines()[-1]


async def test_an_address_that_workers_cannot_have_is_told(installation: Installation, tmp_path: Path) -> None:
    with installation.processes() as processes:
        crew = await processes.serving({"workers": "2"})
        for listen, workers, code, sentence in [
            (crew.address, "1", 1, f"cannot listen on {crew.address}"),
            (crew.address, "2", 1, f"cannot listen on {crew.address}"),
            ("0.0.0.0:0", "2", 2, "0.0.0.0:"),
            (f"unix:{tmp_path}/socket", "2", 2, "several workers cannot share unix:"),
        ]:
            given = ["serve", "--listen", listen, "--workers", workers]
            done = await asyncio.to_thread(authority, *given, cwd=tmp_path, **installation.settings())
            assert (done.returncode, done.stderr.count(sentence)) == (code, 1), (listen, workers, done.stderr)
            assert "Traceback" not in done.stderr


@pytest.mark.parametrize("workers", ["0", "65", "many"])
def test_a_number_of_workers_that_makes_no_sense_is_told(workers: str, tmp_path: Path) -> None:
    done = authority("serve", "--workers", workers, cwd=tmp_path)

    assert done.returncode == 2
    assert "workers" in done.stderr.lower()
    assert not (tmp_path / ".authority").exists()


async def test_too_few_connections_for_all_workers_are_told_of(installation: Installation) -> None:
    # Given a database that lets in fewer than the workers may ask for
    name = installation.admin_url.rpartition("/")[2]
    with psycopg.connect(installation.admin_url, autocommit=True) as connection:
        connection.execute(f"alter database {name} connection limit 40".encode())
        try:
            with installation.processes() as processes:
                crew = await processes.serving({"workers": "2"})
                sparing = await processes.serving({"workers": "2", "connections": "2", "commit_connections": "1"})
        finally:
            connection.execute(f"alter database {name} connection limit -1".encode())
    # Then it says so with both numbers, and serves
    assert "2 workers may open 42 connections" in crew.said
    assert "PostgreSQL lets in 40" in crew.said
    assert "connections" not in sparing.said


async def test_a_terminal_that_goes_away_ends_it(installation: Installation) -> None:
    # Given workers whose parent was started in a terminal
    log = installation.folder / "in-a-terminal.log"
    with _in_a_terminal(installation, log) as (process, terminal):
        await eventually(lambda: b" serves at " in log.read_bytes(), "it serves")
        workers = process_table.descendants(process.pid)
        # When its terminal is closed, then that is no wish for other workers
        os.close(terminal)
        await eventually(lambda: process.poll() is not None, "it ends")
    assert process.returncode == 0
    assert "replaced" not in log.read_text()
    assert all(process_table.has_ended(pid) for pid in workers)


@contextmanager
def _in_a_terminal(installation: Installation, log: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A parent with a terminal of its own, and the descriptor by which that lives."""
    ours, theirs = pty.openpty()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, AUTHORITY, "serve", "--workers", "2", "--listen", "127.0.0.1:0"],
            env=environment(**installation.settings()),
            stdin=theirs,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    os.close(theirs)
    try:
        yield process, ours
    finally:
        process.kill()
        process.wait()


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < deadline
