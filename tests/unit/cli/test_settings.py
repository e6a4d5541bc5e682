"""Where the operator's commands look for their authority, and how a wrong setting is told."""

from pathlib import Path

import pytest

from tests.unit.cli.running import ran

OF_DATABASES = "AUTHORITY_ADMIN_DATABASE_URL"


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without an authority, and an environment that names none."""
    monkeypatch.chdir(tmp_path)
    for name in ("AUTHORITY_DATABASE_URL", "AUTHORITY_REDIS_URL", OF_DATABASES, "AUTHORITY_CONFIG"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_database_the_setting_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys, "migrate")

    assert result.code == 2
    assert result.sentence.startswith(f"{OF_DATABASES} is not set: name a role")
    assert "--data" in result.sentence


def test_a_folder_that_serves_nothing_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys, "keys", "list", "--data", "nothing")

    assert result.code == 1
    assert result.sentence == "no authority is served from nothing: start one by `authority serve --data nothing`"


@pytest.mark.parametrize("command", [["keys", "list"], ["policies", "list"], ["principals", "list", "--tenant", "a|b"]])
def test_a_database_that_is_away_is_told_with_its_setting(
    command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(OF_DATABASES, "postgresql://nobody@127.0.0.1:1/nothing")

    result = ran(capsys, *command)

    assert result.code == 1
    assert result.sentence.startswith(f"the database of {OF_DATABASES} cannot be reached")


def test_a_migration_that_cannot_connect_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(OF_DATABASES, "postgresql://nobody@127.0.0.1:1/nothing")

    result = ran(capsys, "migrate")

    assert result.code == 1
    assert result.sentence.startswith("the database could not be migrated: connection failed")


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        (OF_DATABASES, "mysql://x", f"{OF_DATABASES}: must begin with postgresql://"),
        ("AUTHORITY_LISTEN", "127.0.0.1:99999", "AUTHORITY_LISTEN: must be HOST:PORT, with a port of at most 65535"),
        ("AUTHORITY_ISSUER", "two words", "AUTHORITY_ISSUER: "),
        ("AUTHORITY_CONFIG", "nothing.toml", "AUTHORITY_CONFIG names nothing.toml, which is no file"),
    ],
)
def test_a_wrong_setting_is_named(
    name: str, value: str, sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)

    result = ran(capsys, "migrate")

    assert result.code == 2
    assert result.sentence.startswith(sentence)


def test_a_file_of_settings_that_is_no_toml_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "config.toml").write_text("listen = [")
    monkeypatch.setenv("AUTHORITY_CONFIG", "config.toml")

    result = ran(capsys, "serve")

    assert result.code == 2
    assert result.sentence.startswith("AUTHORITY_CONFIG names config.toml, which is no TOML: ")


@pytest.mark.parametrize("workers", ["0", "65", "two"])
def test_a_number_of_workers_that_cannot_be_is_told_by_its_option(
    workers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = ran(capsys, "serve", "--workers", workers)

    assert result.code == 2
    assert result.sentence.startswith("Invalid value for '--workers': ")


def test_serving_own_servers_needs_both(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTHORITY_DATABASE_URL", "postgresql://x@127.0.0.1:1/y")

    result = ran(capsys, "serve")

    assert result.code == 2
    assert result.sentence == "AUTHORITY_REDIS_URL is not set: set it; `authority serve --embedded` needs none"


def test_serving_from_a_database_that_is_away_names_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTHORITY_DATABASE_URL", "postgresql://x@127.0.0.1:1/y")
    monkeypatch.setenv("AUTHORITY_REDIS_URL", "redis://127.0.0.1:1")

    result = ran(capsys, "serve")

    assert result.code == 1
    assert result.sentence.startswith("the database of AUTHORITY_DATABASE_URL cannot be reached")


def test_the_demo_wants_a_folder_of_its_own(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "file").touch()

    result = ran(capsys, "demo", "--data", "used")

    assert result.code == 1
    assert result.sentence.startswith("used is not empty")
