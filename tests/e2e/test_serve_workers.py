"""`authority serve --workers N`: what it says, refuses and warns of, and how it ends."""

import asyncio
import json
import os
import pty
import re
import shutil
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from authority.cli.endpoint import find_endpoint
from authority.embedded import process_table
from tests.e2e.commands import AUTHORITY, WITHIN_S, authority, environment, started
from tests.e2e.test_serve import run_try
from tests.installation.crowd import CROWD
from tests.installation.health import SERVING
from tests.installation.installation import Installation
from tests.installation.processes import eventually
from tests.integration.rpc.certificates import self_signed

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

        # And what was committed is delivered by the parent
        _until(lambda: _delivered(data) == 2)

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
    assert "2 workers may open 45 connections" in crew.said
    assert "PostgreSQL lets in 40" in crew.said
    assert "connections" not in sparing.said


@pytest.fixture
def own_keys(installation: Installation, tmp_path: Path) -> Installation:
    """The installation, with a copy of its key folder whose secret of page tokens can be spoilt."""
    keys = shutil.copytree(installation.keys, tmp_path / "keys")
    (keys / "page-tokens.key").write_bytes(bytes(32))
    (keys / "page-tokens.key").chmod(0o600)
    return replace(installation, folder=tmp_path)


async def test_workers_that_would_not_serve_replace_none(own_keys: Installation) -> None:
    with own_keys.processes() as processes:
        crew = await processes.serving({"workers": "2"})
        workers = crew.workers
        # Given something that lets no further worker serve
        (own_keys.keys / "page-tokens.key").chmod(0o644)
        # When the workers are to be replaced
        crew.send(signal.SIGHUP)
        # Then it is told why they are not, and they go on
        await eventually(lambda: "workers not replaced" in crew.said, "it is told")
        assert "chmod 600 it" in crew.said
        assert set(workers) <= set(crew.workers)
        assert await crew.health() == SERVING
        # And once nothing stands against it, they are
        (own_keys.keys / "page-tokens.key").chmod(0o600)
        crew.send(signal.SIGHUP)
        await eventually(lambda: "workers replaced" in crew.said, "they are replaced")
        assert not set(workers) & set(crew.workers)


async def test_a_worker_that_cannot_come_back_is_tried_ever_more_rarely_until_it_can(own_keys: Installation) -> None:
    with own_keys.processes() as processes:
        crew = await processes.serving({"workers": "2"})
        # Given a worker that dies while nothing lets another one serve
        (own_keys.keys / "page-tokens.key").chmod(0o644)
        killed, other = crew.workers
        os.kill(killed, signal.SIGKILL)
        # Then others are tried, with a longer pause each time, while the rest serve
        await eventually(lambda: crew.said.count("worker ended") == 3, "it is tried again and again")
        told = [line for line in crew.said.splitlines() if "worker ended" in line]
        assert [re.findall(r"again_in_s=(\S+)", line) for line in told] == [["0.5"], ["1.0"], ["2.0"]]
        assert ["SIGKILL" in line for line in told] == [True, False, False]
        assert ["chmod 600 it" in line for line in told] == [False, True, True]
        # And as soon as one can serve, it does
        (own_keys.keys / "page-tokens.key").chmod(0o600)
        await eventually(lambda: crew.said.count("worker serves") == 3, "it is complete again")
        assert len(crew.workers) == 2
        assert other in crew.workers


async def test_replaced_workers_have_the_certificate_of_that_moment(installation: Installation, tmp_path: Path) -> None:
    certificate, private_key = tmp_path / "tls.pem", tmp_path / "tls.key"

    def renew() -> str:
        certificate_pem, key_pem = self_signed("127.0.0.1")
        certificate.write_bytes(certificate_pem)
        private_key.write_bytes(key_pem)
        private_key.chmod(0o600)
        return certificate_pem.decode()

    # Given workers that speak TLS
    first = renew()
    with installation.processes() as processes:
        crew = processes.start(
            {"workers": "2", "tls_certificate": str(certificate), "tls_private_key": str(private_key)}
        )
        await eventually(lambda: " serves at " in crew.said, "it serves")
        host, _, port = crew.address.rpartition(":")
        assert ssl.get_server_certificate((host, int(port))) == first
        # When the certificate is another one and they are replaced
        second = renew()
        crew.send(signal.SIGHUP)
        await eventually(lambda: "workers replaced" in crew.said, "they are replaced")
        # Then all of them show it
        shown = {ssl.get_server_certificate((host, int(port))) for _ in range(CROWD)}
        assert shown == {second} != {first}


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


def _delivered(data: Path) -> int:
    """How many events the folder's authority has delivered."""
    with psycopg.connect(find_endpoint(data).admin_database_url) as connection:
        row = connection.execute("select count(*) from authority.outbox where delivered_time is not null").fetchone()
    return row[0] if row else 0


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < deadline
