"""`authority doctor` of an authority that lacks nothing, of one that is away, and of an embedded one."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from authority.bootstrap.doctor.examination import Subject, examine
from authority.bootstrap.doctor.finding import State
from authority.bootstrap.doctor.folder import look_at_disk
from authority.cli.endpoint import Endpoint
from authority.config import load_settings
from tests.e2e.doctor.conftest import Doctor
from tests.installation.documented import examples
from tests.unit.cli.running import ran


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


@pytest.mark.usefixtures("own_servers")
def test_servers_of_ones_own_that_lack_nothing_are_ok(doctor: Doctor) -> None:
    examined = doctor()

    assert examined.not_ok() == []
    # And everything that it promises to look at was looked at
    assert {found["check"] for found in examined.ran.document["checks"]} == {
        *("python", "service", "client", "settings", "postgresql", "clock", "service login", "schema", "durability"),
        *(
            "isolation",
            "connections",
            "issuer keys",
            "delivery",
            "operator login",
            "key folder",
            "page tokens",
            "redis",
        ),
        *("redis eviction", "redis memory", "redis disk", "redis password", "redis clock", "tls", "health"),
    }


def test_an_embedded_authority_that_is_served_is_ok(
    doctor: Doctor, healthy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(healthy.parent)
    assert doctor().not_ok() == doctor("--data", str(healthy)).not_ok() == []
    for example in examples("docs/operating.md", "Doctor"):
        assert not example.difference(ran(capsys, *example.arguments()).out)


def test_health_is_told_of_each_service_and_of_redis(
    healthy: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(healthy.parent)
    for example in examples("docs/operating.md", "Health"):
        assert not example.difference(ran(capsys, *example.arguments()).out)
    assert ran(capsys, "health", endpoint.target).code == 0

    away = ran(capsys, "health", "127.0.0.1:1", "--timeout", "5")
    assert away.code == 1
    assert away.sentence.startswith("nobody serves at 127.0.0.1:1 (Connection refused): start it by `authority serve`")
    assert away.sentence.endswith("or ask over TLS by --tls-certificate")


@pytest.mark.usefixtures("own_servers")
def test_parts_that_are_away_keep_no_other_from_being_looked_at(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DATABASE_URL", "ADMIN_DATABASE_URL"):
        monkeypatch.setenv(f"AUTHORITY_{name}", "postgresql://x:kept-to-itself@127.0.0.1:1/y")
    monkeypatch.setenv("AUTHORITY_REDIS_URL", "redis://:kept-to-itself@127.0.0.1:1")
    monkeypatch.setenv("AUTHORITY_LISTEN", "127.0.0.1:1")

    examined = doctor()

    assert examined.not_ok() == ["health", "operator login", "postgresql", "redis"]
    assert examined["postgresql"]["found"].startswith("the database of AUTHORITY_DATABASE_URL cannot be reached (")
    assert examined["redis"]["found"] == "the Redis of AUTHORITY_REDIS_URL cannot be asked (ConnectionError)"
    assert (examined["health"]["state"], examined["health"]["remedy"]) == ("warning", "start it by `authority serve`")
    assert examined["key folder"]["state"] == "ok"


async def test_parts_that_hang_are_not_waited_for(silent_port: int) -> None:
    url = f"postgresql://x@127.0.0.1:{silent_port}/y"
    subject = Subject(
        settings=load_settings(database_url=url, redis_url="redis://x"),
        database_url=url,
        admin_database_url=url,
        redis_url=f"redis://127.0.0.1:{silent_port}",
        listen=f"127.0.0.1:{silent_port}",
    )

    found = {one.check: one for one in await examine(subject, within_s=0.2)}

    assert "no answer in time" in found["postgresql"].found
    assert "no answer in time" in found["operator login"].found
    assert "(TimeoutError)" in found["redis"].found
    assert found["health"].state is State.WARNING


@pytest.mark.usefixtures("own_servers")
def test_wrong_and_unknown_settings_are_told(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTHORITY_WORKERZ", "2")
    warned, _ = doctor().all("settings")
    assert (warned["state"], warned["found"]) == ("warning", "AUTHORITY_WORKERZ is no setting")
    assert warned["remedy"].startswith("did you mean AUTHORITY_WORKERS?")

    monkeypatch.setenv("AUTHORITY_WORKERS", "none")
    monkeypatch.setenv("AUTHORITY_STREAMS", "none")
    wrong = [found["found"] for found in doctor().all("settings") if found["state"] == "problem"]
    assert wrong == [
        "AUTHORITY_WORKERS: must be a whole number from 1 to 64, not 'none'",
        "AUTHORITY_STREAMS: must be a whole number from 1 to 1024, not 'none'",
    ]


def test_a_client_of_another_version_is_told(
    doctor: Doctor, healthy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given another client before ours on the path
    installed = tmp_path / "capability_authority_client-0.0.9.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: capability-authority-client\nVersion: 0.0.9\n")
    monkeypatch.syspath_prepend(tmp_path)

    assert doctor("--data", str(healthy))["client"] == {
        "check": "client",
        "state": "problem",
        "found": "capability-authority-client is 0.0.9, and this service needs 0.1.0",
        "remedy": "pip install capability-authority-client==0.1.0",
    }


def test_a_folder_that_is_not_served_is_looked_at_all_the_same(
    doctor: Doctor, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a folder with keys whose passwords others may read
    folder = tmp_path / ".authority"
    folder.mkdir()
    keys.rename(folder / "keys")
    password = folder / "postgres.password"
    password.write_text("kept")
    password.chmod(0o644)
    monkeypatch.chdir(tmp_path)

    examined = doctor()

    assert examined["data folder"]["found"] == "others may read .authority/postgres.password"
    assert examined["key folder"]["state"] == examined["disk"]["state"] == "ok"
    password.chmod(0o600)
    assert doctor()["data folder"]["found"] == ".authority is not served, so that its servers are not looked at"
    assert doctor("--data", "nothing")["data folder"]["found"] == "nothing is not there"


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    assert look_at_disk(tmp_path / "not" / "yet", enough=0, too_few=0).state is State.OK
    assert look_at_disk(tmp_path, enough=2**80, too_few=0).state is State.WARNING
    assert look_at_disk(tmp_path, enough=2**80, too_few=2**80).state is State.PROBLEM
