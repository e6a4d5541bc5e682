"""`authority migrate` on the operator's own databases."""

from pathlib import Path

import psycopg
import pytest

from authority.cli.endpoint import find_endpoint
from authority.postgres.provision import ensure_database
from tests.e2e.operator.operating import Run, told
from tests.unit.cli.running import ran


def test_migrating_again_changes_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given the URL of some other authority in the environment, then the login of this one's service is left alone
    monkeypatch.setenv("AUTHORITY_DATABASE_URL", "postgresql://authority_service:another@127.0.0.1:1/another")
    assert told(run, "migrate") == {"applied": [], "service": None}
    assert run("migrate").out == "the database was at this version already\n"


def test_a_new_database_is_made_ready_by_migrate_alone(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Given an empty database of the operator's own
    url = ensure_database(find_endpoint(data).admin_database_url, "empty")
    monkeypatch.setenv("AUTHORITY_ADMIN_DATABASE_URL", url)
    monkeypatch.chdir(data)
    before = set(data.glob("keys/receipt-*"))

    # When it is used too early, then the remedy is named
    early = ran(capsys, "keys", "list")
    assert early.code == 1
    assert "has `authority migrate` been run on it" in early.sentence

    # And a key that it cannot know of leaves no private key behind
    assert ran(capsys, "keys", "rotate", "receipt").sentence == early.sentence
    assert set(data.glob("keys/receipt-*")) == before

    # When it is migrated, then it can be used, and migrating again changes nothing
    first, second = ran(capsys, "migrate", "--json"), ran(capsys, "migrate", "--json")
    assert first.document["applied"]
    assert second.document == {"applied": [], "service": None}
    assert "nobody was let in to serve: set AUTHORITY_DATABASE_URL" in ran(capsys, "migrate").out
    assert ran(capsys, "keys", "list", "--json").document == []
    made = ran(capsys, "keys", "rotate", "receipt", "--json").document
    assert Path(made["folder"]) == Path("keys")
    assert [key["key_id"] for key in ran(capsys, "keys", "list", "--json").document] == [made["key"]["key_id"]]


def test_migrate_lets_the_user_of_the_service_in(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Given a database of the operator's own, and a login that was made for the service
    url = ensure_database(find_endpoint(data).admin_database_url, "own")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create role application login password 'kept to itself'")
    server = url.rpartition("@")[2]
    monkeypatch.setenv("AUTHORITY_ADMIN_DATABASE_URL", url)
    monkeypatch.setenv("AUTHORITY_DATABASE_URL", f"postgresql://application:kept%20to%20itself@{server}")

    # When it is migrated, then that login may take on the powers, and no password is told
    done = ran(capsys, "migrate")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("application, the user of AUTHORITY_DATABASE_URL, may take on the powers of the service\n")
    assert ran(capsys, "migrate", "--json").document == {"applied": [], "service": "application"}
    service = psycopg.connect(f"postgresql://application:kept%20to%20itself@{server}", autocommit=True)
    with service:
        service.execute("set role authority_commit")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            service.execute("set role authority_admin")

    # When the URL is none, then it is told without the text of it
    monkeypatch.setenv("AUTHORITY_DATABASE_URL", "postgresql://application:kept[@host/own")
    wrong = ran(capsys, "migrate")
    assert wrong.code == 2
    assert wrong.sentence.startswith("AUTHORITY_DATABASE_URL: is no URL; ")
    assert "kept" not in wrong.out + wrong.err
