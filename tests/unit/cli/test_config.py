"""Settings by environment and files, what is said of wrong ones, and `authority config`."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from authority.config import Settings, load_settings
from authority.config_reading import known_variables, takes, variable
from tests.installation.documented import examples
from tests.unit.cli.running import ran

ROOT = Path(__file__).parents[3]
URL, SECRET = "postgresql://authority_service:kept-to-itself@127.0.0.1:1/authority", "kept-to-itself"


@pytest.fixture(autouse=True)
def nothing_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without settings, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    for name in known_variables(Settings.model_fields):
        monkeypatch.delenv(name, raising=False)


def in_effect(capsys: pytest.CaptureFixture[str]) -> dict[str, tuple[Any, str]]:
    """Value and origin of each setting by its name."""
    document = ran(capsys, "config", "--json").document
    return {setting["name"]: (setting["value"], setting["from"]) for setting in document["settings"]}


def test_the_environment_wins_over_the_file_and_both_over_the_defaults(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given one setting everywhere, one in the file, an empty variable, and a variable in small letters
    Path("authority.toml").write_text('listen = "127.0.0.1:1"\nworkers = 4\nissuer = "here"\n')
    monkeypatch.setenv("AUTHORITY_CONFIG", "authority.toml")
    monkeypatch.setenv("AUTHORITY_LISTEN", "127.0.0.1:2")
    monkeypatch.setenv("AUTHORITY_ISSUER", "")
    monkeypatch.setenv("authority_streams", "7")

    found = in_effect(capsys)

    assert found["AUTHORITY_LISTEN"] == ("127.0.0.1:2", "environment")
    assert found["AUTHORITY_WORKERS"] == (4, "file authority.toml")
    assert found["AUTHORITY_ISSUER"] == ("here", "file authority.toml")
    assert found["AUTHORITY_STREAMS"] == (7, "environment")
    assert found["AUTHORITY_AUDIENCE"] == ("capability-authority", "default")
    assert found["AUTHORITY_CONNECTION_AGE_S"] == (None, "default")
    # And what several workers share is shown as each has it
    assert found["AUTHORITY_CONNECTIONS"] == (2, "default, shared out among 4 workers")


def test_secrets_come_from_files_and_are_never_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given one URL in a file, as containers get their secrets, and one in the environment
    Path("url").write_text(f"{URL}\n")
    monkeypatch.setenv("AUTHORITY_DATABASE_URL_FILE", "url")
    monkeypatch.setenv("AUTHORITY_REDIS_URL", f"redis://:{SECRET}@127.0.0.1:1")

    # Then the service gets both
    settings = load_settings()
    assert (settings.database_url, settings.admin_database_url) == (SecretStr(URL), None)

    # And nobody is shown either
    found = in_effect(capsys)
    assert found["AUTHORITY_DATABASE_URL"] == ("**********", "AUTHORITY_DATABASE_URL_FILE")
    assert found["AUTHORITY_ADMIN_DATABASE_URL"] == (None, "default")
    shown = ran(capsys, "config")
    assert SECRET not in shown.out + shown.err
    assert re.search(r"^AUTHORITY_REDIS_URL +\*{10} +environment$", shown.out, re.MULTILINE)


def test_a_variable_that_is_no_setting_is_told_with_the_nearest(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTHORITY_LISTENS", "127.0.0.1:1")
    monkeypatch.setenv("AUTHORITY_XYZ", "tcp://10.0.0.1:50151")

    assert ran(capsys, "config").err.splitlines() == [
        "AUTHORITY_LISTENS is no setting: did you mean AUTHORITY_LISTEN?",
        "AUTHORITY_XYZ is no setting",
    ]
    assert ran(capsys, "config", "--json").document["unknown"] == [
        {"name": "AUTHORITY_LISTENS", "nearest": "AUTHORITY_LISTEN"},
        {"name": "AUTHORITY_XYZ", "nearest": None},
    ]


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("WORKERS", "two", "must be a whole number from 1 to 64, not 'two'"),
        ("WORKERS", "65", "must be a whole number from 1 to 64, not '65'"),
        ("WORKERS", "1.5", "must be a whole number from 1 to 64, not '1.5'"),
        ("REPLAY_MS", "1", "must be a whole number of at least 1000, not '1'"),
        ("KEY_REFRESH_S", "0", "must be a number above 0, at most 60, not '0'"),
        ("KEY_REFRESH_S", "nan", "must be a number above 0, at most 60, not 'nan'"),
        ("CONNECTION_AGE_S", "-1", "must be a number above 0, not '-1'"),
        ("CONNECTION_AGE_S", "inf", "must be a number above 0, not 'inf'"),
        ("DRAIN_S", "soon", "must be a number from 0 to 300, not 'soon'"),
        ("REFLECTION", "maybe", "must be true or false, not 'maybe'"),
        ("LOG_FORMAT", "xml", "must be console or json, not 'xml'"),
        ("LISTEN", "here", "must be HOST:PORT, with a port of at most 65535, or unix:PATH"),
        ("ISSUER", "two words", "must be a name of ASCII letters, digits and ._:@+/-"),
        ("DATABASE_URL", SECRET, "must begin with postgresql://"),
        ("ADMIN_DATABASE_URL", f"mysql://{SECRET}", "must begin with postgresql://"),
        ("REDIS_URL", f"https://{SECRET}", "must begin with redis://, rediss:// or unix://"),
    ],
)
def test_a_wrong_value_is_told_with_its_variable_and_what_would_be_right(
    name: str, value: str, sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"AUTHORITY_{name}", value)

    result = ran(capsys, "config")

    assert result.code == 2
    assert result.sentence.startswith(f"AUTHORITY_{name}: {sentence}")
    assert SECRET not in result.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("workers = 'two'", "workers in authority.toml: must be a whole number from 1 to 64, not 'two'"),
        ("listen = 7", "listen in authority.toml: must be HOST:PORT or unix:PATH, not 7"),
        ("comit_connections = 7", "authority.toml sets comit_connections, and there is no such setting: did you mean"),
        (
            "AUTHORITY_WORKERS = 7",
            "authority.toml sets AUTHORITY_WORKERS, and there is no such setting: did you mean w",
        ),
        ("xyz = 7", "authority.toml sets xyz, and there is no such setting: `authority config` lists"),
        ("listen = [", "AUTHORITY_CONFIG names authority.toml, which is no TOML: "),
        ("listen = '\udcff'", "AUTHORITY_CONFIG names authority.toml, which is no TOML: it is not UTF-8"),
        pytest.param(
            "a = " + "[" * 50_000, "AUTHORITY_CONFIG names authority.toml, which is no TOML: it is too deep", id="deep"
        ),
        pytest.param(
            "#" * 2**21, "AUTHORITY_CONFIG names authority.toml, which has more than 1,048,576 bytes", id="long"
        ),
        ('"\\u001b[2J" = 1', r"authority.toml sets \x1b[2J, and there is no such setting"),
    ],
)
def test_a_wrong_file_is_told_with_its_name_by_every_command(
    text: str, sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("authority.toml").write_bytes(text.encode(errors="surrogateescape"))
    monkeypatch.setenv("AUTHORITY_CONFIG", "authority.toml")

    for command in (["config"], ["serve"]):
        result = ran(capsys, *command)

        assert result.code == 2
        assert f"authority: {sentence}" in result.err


def test_a_file_that_cannot_be_read_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Given a folder in the place of a file, and files that are missing, empty, or no text
    Path("empty").touch()
    Path("bytes").write_bytes(b"\xff")
    for name, file, sentence in (
        ("CONFIG", ".", "AUTHORITY_CONFIG names ., which is no file: correct it or unset it"),
        ("CONFIG", "none", "AUTHORITY_CONFIG names none, which is no file: correct it or unset it"),
        ("REDIS_URL_FILE", "none", "AUTHORITY_REDIS_URL_FILE names none, which cannot be read (No such file"),
        ("REDIS_URL_FILE", "empty", "AUTHORITY_REDIS_URL_FILE names empty, which is empty: write the value into it"),
        ("REDIS_URL_FILE", "bytes", "AUTHORITY_REDIS_URL_FILE names bytes, which cannot be read (it is not UTF-8)"),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(f"AUTHORITY_{name}", file)
            result = ran(capsys, "config")
        assert result.code == 2
        assert result.sentence.startswith(sentence)


def test_a_secret_in_two_places_is_refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTHORITY_DATABASE_URL", URL)
    monkeypatch.setenv("AUTHORITY_DATABASE_URL_FILE", "url")

    result = ran(capsys, "config")

    assert result.code == 2
    assert result.sentence == ("AUTHORITY_DATABASE_URL and AUTHORITY_DATABASE_URL_FILE are both set: unset one of them")


def test_a_wrong_secret_in_a_file_is_told_without_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("url").write_text(f"mysql://{SECRET}")
    monkeypatch.setenv("AUTHORITY_DATABASE_URL_FILE", "url")

    result = ran(capsys, "config")

    assert (result.code, result.sentence) == (2, "AUTHORITY_DATABASE_URL_FILE: must begin with postgresql://")


def test_the_table_of_settings_in_the_documentation_is_what_the_code_says() -> None:
    rows = [
        f"| `{variable(name)}` | {takes(name, field)} | {_default(field.default)} | {_meaning(field.description)} |"
        for name, field in Settings.model_fields.items()
    ]
    shown = (ROOT / "docs/operating.md").read_text(encoding="utf-8").splitlines()

    documented = [line for line in shown if line.startswith("| `AUTHORITY_")]
    assert documented == rows, "\n".join(["replace the table in docs/operating.md by:", *rows])


def _default(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"`{value}`" if isinstance(value, str | int | float | Path) else ""


def _meaning(description: str | None) -> str:
    assert description, "every setting has a docstring"
    return " ".join(description.split())


def test_what_the_documentation_shows_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    for example in examples("docs/operating.md", "Settings"):
        assert not example.difference(ran(capsys, *example.arguments()).out)
