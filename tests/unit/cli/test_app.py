"""The program as a whole: its help, its version, and how it refuses what it does not understand."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version

import pytest
from typer.main import get_command

from authority.bootstrap.operator import FIRST_PURPOSES
from authority.cli import app
from authority.domain.statement import KeyPurpose
from tests.unit.cli.running import ran

COMMANDS = {
    "serve", "demo", "migrate", "provision", "principals", "namespaces", "policies", "keys", "call", "inspect",
    "config", "explain",
    "doctor", "memberships", "aggregates", "health", "why", "top",
    "tamper", "tenants", "tenants add", "grants", "grants delegate", "grants verify",
    "validators", "validators list", "validators profiles", "validators try",
    "grants issue", "grants exchange", "grants show", "grants revoke",
    "principals add", "principals list", "principals revoke", "namespaces add", "namespaces list", "namespaces mode",
    "proposals", "proposals list", "proposals show", "proposals withdraw",
    "evidence", "evidence put", "evidence read", "evidence list", "evidence approve", "evidence reject",
    "memberships add", "memberships list", "memberships remove", "aggregates add", "aggregates list",
    "aggregates remove",
    "relay", "outbox", "outbox list", "outbox status", "outbox replay",
    "audit", "audit list", "audit watch", "audit refusals",
    "policies show", "policies diff", "namespaces would-deny", "policies external", "policies external add",
    "policies external list", "policies external revoke",
    "links", "links add", "links revoke", "links list", "principals bind", "dev-certs",
    "interop", "interop resolve", "interop verify",
    "principals alias", "principals alias add", "principals alias list", "principals alias revoke",
    "review", "review list", "review show", "review approve", "review reject", "review request-changes",
    "review revoke", "review adopt",
    "token-issuers", "token-issuers list", "token-issuers check",
    "policies check", "policies load", "policies list", "policies activate", "keys list", "keys rotate", "keys revoke",
}  # fmt: skip


def commands(name: str = "", node: object = None) -> Iterator[tuple[str, object]]:
    """Every command by its words, groups too."""
    node = node or get_command(app.app_of(*app.COMMANDS))
    for word, child in getattr(node, "commands", {}).items():
        path = f"{name} {word}".strip()
        yield path, child
        yield from commands(path, child)


def test_the_commands_are_these() -> None:
    assert {name for name, _ in commands()} == COMMANDS


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys, *name.split(), "--help")

    assert result.code == 0
    assert f"authority {name}" in result.out
    assert not re.search("<[a-z]", result.out), "it names a type"
    assert result.err == ""


@pytest.mark.parametrize(
    ("name", "command"), sorted(commands()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_command_and_argument_has_a_word_of_help(name: str, command: object) -> None:
    assert getattr(command, "help", None), name
    for parameter in getattr(command, "params", []):
        assert getattr(parameter, "help", None), (name, parameter.name)


@pytest.mark.parametrize(
    ("name", "command"), sorted(commands()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_help_is_broken_by_the_terminal_alone(name: str, command: object) -> None:
    paragraphs = str(getattr(command, "help", "")).split("\n\n")

    assert [paragraph for paragraph in paragraphs if "\n" in paragraph] == [], name


def test_the_version_is_the_distributions(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "--version").out == f"authority {version('capability-authority')}\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["bogus"], "No such command 'bogus'. (see authority --help)"),
        (["serve", "--bogus"], "No such option: --bogus (see authority serve --help)"),
        (["keys", "rotate"], "Missing argument 'PURPOSE'"),
        (["keys", "rotate", "bogus"], "PURPOSE: 'bogus' is none of capability, grant, receipt, "),
        (["keys", "revoke", "x"], "Invalid value for 'KEY_ID': 'x' is not sha256: and 64"),
        (["principals", "list"], "Missing option '--tenant'. (see authority principals list --help)"),
        (["principals", "list", "--tenant", "x"], "Invalid value for '--tenant': 'x' is not NAMESPACE|ID"),
        (["keys", "rotate", "grant", "--namespace", "x"], "--namespace needs --tenant"),
        (["principals", "revoke", "--tenant", "a|b"], "name either --principal or --key"),
    ],
)
def test_what_it_does_not_understand_is_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = ran(capsys, *arguments)

    assert result.code == 2
    assert result.sentence.startswith(sentence)
    assert result.out == ""


def test_a_key_can_be_made_for_every_purpose_there_is() -> None:
    assert set(FIRST_PURPOSES) == set(KeyPurpose)


def test_a_purpose_that_there_is_not_is_told_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys, "keys", "rotate", "reciept")

    assert result.code == 2
    assert result.sentence.startswith("PURPOSE: 'reciept' is none of capability, grant, receipt, ")


def test_the_help_shows_the_commands_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    groups = [line.strip("╭─╮") for line in ran(capsys, "--help").out.splitlines() if line.startswith("╭─")]

    assert [group.strip() for group in groups] == [
        "Options", "Run it", "See that it is well", "Ask it, and see it refuse", "Say who may call", "Operate it",
    ]  # fmt: skip


def test_the_help_of_a_choice_names_the_choices(capsys: pytest.CaptureFixture[str]) -> None:
    for command, last in ((["principals", "add"], "validator, admin."), (["keys", "rotate"], "validation, decision")):
        assert last in " ".join(ran(capsys, *command, "--help").out.replace("│", " ").split())


@pytest.mark.parametrize(
    ("command", "usage"),
    [
        ("why", "[OPTIONS] RECORD"),
        ("outbox replay", "[OPTIONS] [EVENT]"),
        ("tamper", "[OPTIONS] [FILE|-|BASE64]"),
        ("tenants add", "[OPTIONS] NAME..."),
    ],
)
def test_the_usage_shows_what_may_be_left_out(capsys: pytest.CaptureFixture[str], command: str, usage: str) -> None:
    lines = [line.strip() for line in ran(capsys, *command.split(), "--help").out.splitlines()]

    assert f"Usage: authority {command} {usage}" in lines


def test_without_a_command_it_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys)

    assert result.code == 2
    assert "Usage: authority" in result.out
    assert result.err == ""


def test_python_runs_it_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "authority.cli", "--version"], capture_output=True, text=True, check=True
    )

    assert done.stdout.startswith("authority ")


def test_a_command_waits_for_the_import_of_no_other() -> None:
    program = "import sys; from authority.cli.app import run; run(['keys', '--help']); print(*sys.modules)"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    modules = done.stdout.splitlines()[-1].split()
    assert "authority.cli.keys" in modules
    assert not {"authority.cli.serve", "authority.cli.demo", "authority.bootstrap.service"} & set(modules)


def test_a_reader_that_goes_away_is_no_defect() -> None:
    # Given a pipe that nobody reads
    with subprocess.Popen(
        [sys.executable, "-m", "authority.cli", "--version"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()

        # When the program writes, then it ends quietly
        assert process.stderr.read() == b""
        assert process.wait() == 1
