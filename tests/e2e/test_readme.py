"""What the README shows is run as it stands there, on a served authority."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from capability_authority.client import CapabilityAuthority

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CLIENT_README = (ROOT / "clients/python/README.md").read_text(encoding="utf-8")
TYPESCRIPT_README = (ROOT / "clients/typescript/README.md").read_text(encoding="utf-8")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
AUTHORITY = str(Path(sys.executable).with_name("authority"))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which `authority serve` runs, as `make serve` does in the repository's."""
    place = tmp_path_factory.mktemp("readme")
    command = [AUTHORITY, "serve", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "authority call" in line:
                break
        yield place
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        assert process.returncode == 0


def test_the_exchange_prints_what_its_comments_say(served: Path) -> None:
    script = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert script is not None

    done = subprocess.run(
        [sys.executable, "-c", script[1]], cwd=served, capture_output=True, text=True, check=False, timeout=60
    )

    assert done.stderr == ""
    *commented, record = done.stdout.splitlines()
    assert commented == ["agent_output", "require_approval", "True True"]
    assert UUID.fullmatch(record)


def test_the_client_s_examples_run_as_they_stand(served: Path) -> None:
    named = {name: str(served / file) for name, file in _exported(CLIENT_README)}
    scripts = re.findall(r"```python\n(.*?)```", CLIENT_README, re.DOTALL)
    assert len(scripts) == 7

    printed = []
    for script in scripts:
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=served,
            env={**os.environ, **named},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        printed.append(done.stdout.splitlines())

    _, many, sync, recalled, granted, followed, _ = printed
    assert len(followed) == 1
    assert UUID.fullmatch(followed[0])
    assert sync == ["True"]
    found, *citations = recalled
    assert found.startswith("agent_output ")
    assert "staging" in found
    assert citations == ["cited by answer chat/7, answer 3"]
    put, under_a_grant, revoked = granted
    assert re.fullmatch(r"evidence sha256:[0-9a-f]{64} pending", put)
    assert UUID.fullmatch(under_a_grant.removeprefix("found "))
    assert revoked == "False REVOKED"
    records = [line.split()[-1] for line in many]
    assert all(UUID.fullmatch(record) for record in records), many
    assert len(set(records)) == 10


def test_the_typescript_client_is_shown_with_the_same_credentials() -> None:
    assert _exported(TYPESCRIPT_README) == _exported(CLIENT_README)


def _exported(readme: str) -> list[tuple[str, str]]:
    """The variables that it has its reader set, and the files, as they lie in the folder of `make serve`."""
    found = re.findall(r"^export (\w+)=PATH/(\S+)$", readme, re.MULTILINE)
    assert len(found) == 2
    return found


def test_the_client_s_every_verb_is_named() -> None:
    verbs = {name for name in dir(CapabilityAuthority) if not name.startswith("_")}

    assert {verb for verb in verbs if f"`{verb}" not in CLIENT_README} == {"close"}


def test_the_commands_answer(served: Path) -> None:
    commands = re.findall(r"^\$ \.venv/bin/authority (.*)$", README, re.MULTILINE)
    assert len(commands) >= 2

    for command in commands:
        arguments = [AUTHORITY, *shlex.split(command)]
        done = subprocess.run(arguments, cwd=served, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, (command, done.stderr)
        assert done.stdout.startswith("{")


def test_the_targets_that_it_names_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    for target in re.findall(r"^make ([a-z]+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:.*##", makefile, re.MULTILINE), target


def test_the_files_that_it_links_to_exist() -> None:
    for link in re.findall(r"\]\(([^)#]+)", README):
        assert (ROOT / link).exists(), link
