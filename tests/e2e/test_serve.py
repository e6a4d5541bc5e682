"""`authority serve`: what it prints, writes and answers, and how it stops."""

import json
import shlex
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]

from authority.bootstrap.operator import FIRST_PURPOSES
from authority.cli.endpoint import find_endpoint
from authority.embedded import PostgresServer
from authority.embedded.demo import load_tenants
from capability_authority.client import Credentials
from tests.e2e.commands import AUTHORITY, WITHIN_S, Served, authority, document, serving, started
from tests.installation.fixtures import new_installation
from tests.installation.storage import storage_at

NAMES = ("admin", "agent", "observer", "service", "user")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One that most tests share."""
    with serving(tmp_path_factory.mktemp("served") / "data") as running:
        yield running


def run_try(data: Path) -> subprocess.CompletedProcess[str]:
    """Runs the script that was written into the data folder."""
    return subprocess.run(
        [sys.executable, data / "try.py"], capture_output=True, text=True, check=False, timeout=WITHIN_S
    )


def test_everything_secret_is_for_its_owner_alone(served: Served) -> None:
    files = [
        path for path in served.data.rglob("*") if path.is_file() and path.suffix in {".json", ".pem", ".password"}
    ]

    assert stat.S_IMODE(served.data.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    names = sorted(path.stem for path in (served.data / "credentials").iterdir())
    assert names == sorted(f"{tenant.tenant}-{name}" for tenant in load_tenants() for name in NAMES)


def test_try_py_makes_a_whole_exchange_again_and_again(served: Served) -> None:
    for _ in range(2):
        done = run_try(served.data)
        assert (done.returncode, done.stderr) == (0, "")
        assert [line.split()[0] for line in done.stdout.splitlines()] == [
            "proposed", "validated", "decided", "issued", "committed", "retried", "read",
        ]  # fmt: skip
        assert "replayed: True, same receipt: True" in done.stdout


def test_the_call_that_it_prints_answers(tmp_path: Path) -> None:
    # Given a place without any setting
    with started([AUTHORITY, "serve", "--listen", "127.0.0.1:0"], tmp_path, {}) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(6)]

        # When the line that it prints is run there, then it answers
        (command,) = (line.split(maxsplit=1)[1] for line in lines if line.split()[0] == "try")
        done = subprocess.run(
            shlex.split(command), cwd=tmp_path, capture_output=True, text=True, check=True, timeout=WITHIN_S
        )
        assert len(json.loads(done.stdout)["keys"]) == len(FIRST_PURPOSES)

        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=WITHIN_S)

    # Then Ctrl-C ends it in order, and it has said why it serves embedded
    assert process.returncode == 0
    assert errors.endswith("\nstopped\n")
    assert any(line.split(maxsplit=1)[1].startswith("cognitum-tenant|harbour-books, ") for line in lines)
    assert errors.startswith("AUTHORITY_DATABASE_URL is not set: serving embedded\n… ")
    assert str(tmp_path / ".authority") in "".join(lines)


def test_f12_sigterm_says_not_serving_first_and_ends_with_0(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as served, grpc.insecure_channel(served.address) as channel:
        states = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(service=""), timeout=WITHIN_S)
        assert next(states).status == health_pb2.HealthCheckResponse.SERVING

        served.process.send_signal(signal.SIGTERM)

        assert next(states).status == health_pb2.HealthCheckResponse.NOT_SERVING
        assert list(states) == []
        assert served.process.wait(WITHIN_S) == 0
        assert not (served.data / "endpoint.json").exists()


def test_the_same_folder_again_is_the_same_authority(tmp_path: Path) -> None:
    data = tmp_path / "data"
    agent = data / "credentials" / "harbour-books-agent.json"
    with serving(data) as first:
        before = document(authority("call", "GetKeySet", "--data", str(data), cwd=tmp_path))
        key_id = Credentials.from_file(agent).key_id
        assert run_try(data).returncode == 0
        # And the person may take a file away, and add one of their own
        (data / "credentials" / "meadow-clinic-user.json").unlink()
        assert first.stop(signal.SIGTERM)[0] == 0

    with serving(data) as second:
        after = document(authority("call", "GetKeySet", "--data", str(data), cwd=tmp_path))
        assert after == before
        assert second.address != first.address
        assert Credentials.from_file(agent).target == second.address
        assert Credentials.from_file(agent).key_id == key_id
        assert not (data / "credentials" / "meadow-clinic-user.json").exists()
        records = authority(
            "call", "ListMemoryRecords", "--credentials", str(agent.with_name("harbour-books-user.json")),
            "--json", '{"memory_namespace": "clients/rules"}', cwd=tmp_path,
        )  # fmt: skip
        assert len(document(records)["records"]) == 1


def test_a_folder_or_an_address_that_is_taken_is_told(served: Served, tmp_path: Path) -> None:
    folder = authority("serve", "--data", str(served.data), "--listen", "127.0.0.1:0", cwd=tmp_path)
    address = authority("serve", "--data", str(tmp_path / "other"), "--listen", served.address, cwd=tmp_path)

    assert folder.returncode == address.returncode == 1
    assert f"is in use by process {served.process.pid}" in folder.stderr
    assert f"cannot listen on {served.address}" in address.stderr
    assert "Traceback" not in folder.stderr + address.stderr


def test_an_address_that_others_can_reach_needs_tls(tmp_path: Path) -> None:
    done = authority("serve", "--data", str(tmp_path / "data"), "--listen", "0.0.0.0:0", cwd=tmp_path)

    assert done.returncode == 2
    assert "0.0.0.0:0 needs TLS: set AUTHORITY_TLS_CERTIFICATE" in done.stderr


def test_it_serves_from_servers_of_ones_own(served: Served, tmp_path: Path) -> None:
    # Given the servers of another authority as the operator's own
    endpoint = find_endpoint(served.data)
    settings = {
        "AUTHORITY_DATABASE_URL": endpoint.admin_database_url,
        "AUTHORITY_REDIS_URL": endpoint.redis_url,
        "AUTHORITY_KEYS": endpoint.keys,
        "AUTHORITY_LISTEN": "127.0.0.1:0",
    }
    command = [AUTHORITY, "serve", "--json", "--until-input-ends"]
    with started(command, tmp_path, settings) as process:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["address"]
        with socket.create_connection(address.rsplit(":", 1)):
            pass

        # When standard input ends, then it stops in order, and has written nothing
        _, errors = process.communicate("", timeout=WITHIN_S)
        assert (process.returncode, errors) == (0, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_can_be_ended_before_it_serves(number: signal.Signals, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with started([AUTHORITY, "serve", "--data", str(data)], tmp_path, {}) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "… starting PostgreSQL and Valkey\n"

        process.send_signal(number)
        out, errors = process.communicate(timeout=WITHIN_S)

    assert process.returncode == (130 if number is signal.SIGINT else 0)
    assert out == ""
    assert "Traceback" not in errors


def test_a_try_py_that_leads_elsewhere_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    # Given a data folder in which somebody has put a link in the place of try.py
    elsewhere, data = tmp_path / "precious", tmp_path / "data"
    elsewhere.write_text("precious")
    data.mkdir(mode=0o700)
    (data / "try.py").symlink_to(elsewhere)
    # When an authority is served from it
    with serving(data):
        pass
    # Then what the link led to is as it was
    assert elsewhere.read_text() == "precious"
    assert not (data / "try.py").is_symlink()
    assert (data / "try.py").read_text().startswith('"""One whole exchange')


def test_an_input_whose_end_cannot_be_watched_is_told_in_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [AUTHORITY, "serve", "--data", tmp_path / "data", "--listen", "127.0.0.1:0", "--until-input-ends"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=WITHIN_S,
    )

    sentence = "authority: --until-input-ends: standard input must be a pipe or a terminal, and is neither"
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, sentence)


def test_a_secret_that_others_may_read_is_refused_with_the_remedy_and_is_no_defect(tmp_path: Path) -> None:
    # Given a data folder whose secret of page tokens was opened to others
    data = tmp_path / "data"
    with serving(data):
        pass
    secret = data / "keys" / "page-tokens.key"
    secret.chmod(0o644)
    # When it is served again
    done = authority("serve", "--data", str(data), "--listen", "127.0.0.1:0", cwd=tmp_path)
    # Then it is not
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        f"{secret} has mode 0644, which gives others rights on a secret; chmod 600 it"
    )


async def test_a_database_that_is_older_than_the_service_is_told_of(
    postgres_server: PostgresServer, redis_url: str, tmp_path: Path
) -> None:
    # Given a database of which one migration was never applied, as after an update without `authority migrate`
    with new_installation(postgres_server, redis_url, tmp_path) as installation:
        await installation.furnish()
        with storage_at(installation.admin_url) as storage:
            storage.ask("delete from _yoyo_migration where migration_id = '0004.receipt_key_last'")
        with installation.processes() as processes:
            service = await processes.serving()
            (line,) = (line for line in service.said.splitlines() if "database is older than this version" in line)
    assert "0004.receipt_key_last" in line
    assert "authority migrate" in line
