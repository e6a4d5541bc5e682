"""The file by which other commands find a served authority."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from authority.cli.endpoint import Endpoint, endpoint_of, find_endpoint, is_served, published
from authority.cli.failures import Refused
from authority.config import Settings, load_settings
from tests.unit.cli.running import ran


def settings(listen: str = "127.0.0.1:0") -> Settings:
    return load_settings(
        database_url="postgresql://service@127.0.0.1/authority",
        admin_database_url="postgresql://postgres:secret@127.0.0.1/authority",
        redis_url="redis://127.0.0.1",
        keys=Path("/data/keys"),
        listen=listen,
    )


@pytest.fixture
def endpoint() -> Endpoint:
    return endpoint_of(settings(), 40_000)


@pytest.mark.parametrize(
    ("listen", "target"),
    [
        ("127.0.0.1:0", "127.0.0.1:40000"),
        ("127.0.0.1:50151", "127.0.0.1:40000"),
        ("[::1]:0", "[::1]:40000"),
        ("unix:/run/authority", "unix:/run/authority"),
    ],
)
def test_the_target_has_the_port_that_was_drawn(listen: str, target: str) -> None:
    assert endpoint_of(settings(listen), 40_000).target == target


def test_it_is_there_as_long_as_the_authority_is_served(tmp_path: Path, endpoint: Endpoint) -> None:
    assert not is_served(tmp_path)

    with published(tmp_path, endpoint):
        assert is_served(tmp_path)
        assert find_endpoint(tmp_path) == endpoint
        modes = {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}

    assert modes == {0o600}
    assert list(tmp_path.iterdir()) == []


def test_an_operator_finds_database_and_keys_by_it(endpoint: Endpoint) -> None:
    found = endpoint.operator_settings()

    assert found.admin_database_url == settings().admin_database_url
    assert found.keys == Path("/data/keys")
    assert found.listen == "127.0.0.1:40000"


def test_what_a_killed_process_left_behind_counts_for_nothing(tmp_path: Path, endpoint: Endpoint) -> None:
    # Given the file of a process that has ended
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    data = tmp_path / "data"
    data.mkdir()
    with published(data, endpoint):
        text = (data / "endpoint.json").read_text()
    (data / "endpoint.json").write_text(text.replace(f'"pid": {endpoint.pid}', f'"pid": {ended.pid}'))

    with pytest.raises(Refused, match="no authority is served from"):
        find_endpoint(data)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"pid": "one"}'])
def test_a_damaged_file_is_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "endpoint.json").write_text(text)

    with pytest.raises(Refused, match=r"is of another version or damaged: serve .* again"):
        find_endpoint(tmp_path)


@pytest.mark.parametrize("command", [("keys", "list"), ("call", "GetKeySet")])
def test_a_folder_from_which_nothing_is_served_any_more_is_told(
    command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AUTHORITY_CREDENTIALS", "AUTHORITY_ADMIN_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".authority").mkdir()

    result = ran(capsys, *command)

    assert result.code == 1
    assert result.sentence == "no authority is served from .authority: start one by `authority serve`"
