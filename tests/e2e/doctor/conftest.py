"""One served authority that lacks nothing, and what belongs to its servers: tests spoil one thing each."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from authority.cli.child import served as served_in_a_child
from authority.cli.endpoint import Endpoint, find_endpoint
from tests.unit.cli.running import Ran, ran

PASSWORD = "kept-to-itself"
_NUMBERS = count(1)


@dataclass(frozen=True, slots=True)
class Examined:
    """What a doctor said."""

    ran: Ran

    def __getitem__(self, check: str) -> dict[str, Any]:
        """The one finding of a check."""
        (found,) = self.all(check)
        return found

    def all(self, check: str) -> list[dict[str, Any]]:
        """Every finding of a check."""
        return [found for found in self.ran.document["checks"] if found["check"] == check]

    def not_ok(self) -> list[str]:
        """The checks that found anything to mend."""
        return sorted({found["check"] for found in self.ran.document["checks"] if found["state"] != "ok"})


Doctor = Callable[..., Examined]
"""Examines what the environment names, or the folder that is given."""


@pytest.fixture(scope="session")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of an authority that is served from it."""
    folder = tmp_path_factory.mktemp("doctor") / ".authority"
    folder.mkdir(mode=0o700)
    with served_in_a_child(folder):
        yield folder


@pytest.fixture(scope="session")
def endpoint(healthy: Path) -> Endpoint:
    return find_endpoint(healthy)


@pytest.fixture
def superuser(endpoint: Endpoint) -> Iterator[psycopg.Connection]:
    """Of the healthy authority's database."""
    with psycopg.connect(endpoint.admin_database_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def login(superuser: psycopg.Connection) -> str:
    """A new login that may take on what the service may, and nothing else."""
    name = f"login_{next(_NUMBERS)}"
    superuser.execute(f"create role {name} login noinherit password '{PASSWORD}'".encode())
    superuser.execute(f"grant authority_service to {name} with inherit false, set true".encode())
    return name


@pytest.fixture
def keys(healthy: Path, tmp_path: Path) -> Path:
    """A copy of the healthy authority's key folder, to spoil."""
    return Path(shutil.copytree(healthy / "keys", tmp_path / "keys"))


@pytest.fixture
def own_servers(endpoint: Endpoint, login: str, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that names the healthy servers, the new login and the copied keys."""
    monkeypatch.chdir(tmp_path)
    place = endpoint.admin_database_url.rpartition("@")[2]
    for name in [name for name in os.environ if name.startswith("AUTHORITY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AUTHORITY_DATABASE_URL", f"postgresql://{login}:{PASSWORD}@{place}")
    monkeypatch.setenv("AUTHORITY_ADMIN_DATABASE_URL", endpoint.admin_database_url)
    monkeypatch.setenv("AUTHORITY_REDIS_URL", endpoint.redis_url)
    monkeypatch.setenv("AUTHORITY_KEYS", str(keys))
    monkeypatch.setenv("AUTHORITY_LISTEN", endpoint.target)


@pytest.fixture
def doctor(endpoint: Endpoint, capsys: pytest.CaptureFixture[str]) -> Doctor:
    """Examines; the exit code must say whether there was a problem, and no secret may be shown."""

    def examine(*arguments: str) -> Examined:
        found = ran(capsys, "doctor", "--json", *arguments)
        states = [check["state"] for check in found.document["checks"]]
        assert found.code == int("problem" in states)
        assert (found.document["problems"], found.document["warnings"]) == (
            states.count("problem"),
            states.count("warning"),
        )
        assert all(check["remedy"] for check in found.document["checks"] if check["state"] != "ok")
        for url in (endpoint.admin_database_url, endpoint.redis_url, f"//x:{PASSWORD}@"):
            assert url.partition("//")[2].partition("@")[0].partition(":")[2] not in found.out + found.err
        return Examined(found)

    return examine
