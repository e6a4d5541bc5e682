"""`authority principals add`: where a new principal is sent to call."""

from pathlib import Path

import pytest

from tests.unit.cli.running import ran

ADD = ("principals", "add", "--tenant", "acme|t1", "--principal", "desk|reader", "--kind", "user")


@pytest.fixture(autouse=True)
def own_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An authority of the operator's own that is away."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTHORITY_ADMIN_DATABASE_URL", "postgresql://postgres@127.0.0.1:1/nothing")


@pytest.mark.parametrize("target", ["0.0.0.0:50151", "[::]:50151", "*:50151", ":50151"])
def test_a_wildcard_is_no_target(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys, *ADD, "--out", "reader.json", "--target", target)

    assert result.code == 2
    assert "is where a server listens: name the host by which clients reach it" in result.sentence
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", ["authority.example", "authority.example:0", "authority.example:x", "a:65536"])
def test_a_target_has_a_host_and_a_port(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys, *ADD, "--out", "reader.json", "--target", target)

    assert result.code == 2
    assert "is not HOST:PORT" in result.sentence


@pytest.mark.parametrize("listen", ["0.0.0.0:50151", "[::]:50151", "127.0.0.1:0"])
def test_where_it_listens_for_everybody_is_no_default_for_clients(
    listen: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTHORITY_LISTEN", listen)

    result = ran(capsys, *ADD, "--out", "reader.json")

    assert result.code == 2
    assert result.sentence.startswith(f"the authority listens at {listen}, which is no place to call: add --target")
    assert list(tmp_path.iterdir()) == []


def test_a_target_without_a_file_to_write_it_to_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys, *ADD, "--public-key", "ab" * 32, "--target", "authority.example:443")

    assert result.code == 2
    assert result.sentence.startswith("--target is written into the file of --out")
