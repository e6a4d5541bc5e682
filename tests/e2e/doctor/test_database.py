"""Whatever may be wrong with PostgreSQL, really so, as `authority doctor` tells it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import psycopg
import pytest

from authority.bootstrap.doctor import database
from authority.bootstrap.doctor.examination import Subject, examine
from authority.bootstrap.doctor.finding import State
from authority.bootstrap.system import SystemClock
from authority.cli.endpoint import Endpoint
from authority.config import load_settings
from authority.domain.references import Instant
from authority.postgres.examination import examine as examine_postgres
from authority.postgres.migrate import migrate
from authority.postgres.provision import ensure_database
from tests.e2e.doctor.conftest import PASSWORD, Doctor

pytestmark = pytest.mark.usefixtures("own_servers")


class WrongClock:
    """Is off by so many milliseconds."""

    def __init__(self, off: int) -> None:
        self.off = off

    def now(self) -> Instant:
        return Instant(SystemClock().now() + self.off)


@contextmanager
def server_setting(superuser: psycopg.Connection, name: str, value: str) -> Iterator[None]:
    """The server has the setting while the block lasts, as each new connection sees it."""
    superuser.execute(f"alter system set {name} = '{value}'".encode())
    try:
        _reload(superuser, name, value)
        yield
    finally:
        superuser.execute(f"alter system reset {name}".encode())
        superuser.execute("select pg_reload_conf()")


def _reload(superuser: psycopg.Connection, name: str, value: str) -> None:
    superuser.execute("select pg_reload_conf()")
    deadline = time.monotonic() + 20
    while True:
        with psycopg.connect(superuser.info.dsn, password=superuser.info.password) as new:
            if new.execute("select current_setting(%s)", (name,)).fetchone() == (value,):
                return
        assert time.monotonic() < deadline, "the setting was not taken on"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("alter role {login} nologin", None),
        ("alter role {login} superuser", "is a superuser, whom no wall stops"),
        (
            "revoke authority_service from {login}; grant authority_read to {login} with inherit false",
            "may not take on authority_commit, authority_issue, authority_propose",
        ),
        ("grant authority_admin to {login} with inherit false", "may also take on authority_admin"),
        ("grant pg_signal_backend to {login} with inherit false", "may also take on pg_signal_backend"),
        (
            "grant authority_read to {login} with inherit true",
            "has the rights of authority_read at all times",
        ),
    ],
)
def test_a_login_that_may_less_or_more_than_serve_is_told(
    doctor: Doctor, superuser: psycopg.Connection, login: str, change: str, found: str | None
) -> None:
    superuser.execute(change.format(login=login).encode())

    examined = doctor()

    if found is None:
        assert examined["postgresql"]["found"].startswith("the database of AUTHORITY_DATABASE_URL refuses (")
    else:
        assert set(examined.not_ok()) <= {"service login", "delivery"}
        assert examined["service login"]["found"].startswith(found)


def test_an_operator_who_may_not_migrate_is_told(
    doctor: Doctor, login: str, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = endpoint.admin_database_url.rpartition("@")[2]
    monkeypatch.setenv("AUTHORITY_ADMIN_DATABASE_URL", f"postgresql://{login}:{PASSWORD}@{place}")

    assert doctor()["operator login"]["found"] == "lacks CREATEROLE, CREATE on the database"

    monkeypatch.delenv("AUTHORITY_ADMIN_DATABASE_URL")
    assert doctor()["operator login"]["state"] == "ok"


def test_a_schema_of_another_version_is_told(
    doctor: Doctor, login: str, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a database without the schema
    url = ensure_database(endpoint.admin_database_url, "examined")
    place = url.rpartition("@")[2]
    monkeypatch.setenv("AUTHORITY_DATABASE_URL", f"postgresql://{login}:{PASSWORD}@{place}")
    examined = doctor()
    assert examined["schema"]["found"].startswith("lacks 0001.schema, ")
    assert examined["issuer keys"]["found"] == "cannot be read from the database"
    assert examined["delivery"]["found"] == "the outbox cannot be read"

    # When it is migrated, then it lacks nothing but keys
    migrate(url)
    examined = doctor()
    assert examined.not_ok() == ["issuer keys"]
    assert examined.all("issuer keys")[0]["found"] == (
        "there is no active capability key: `authority keys rotate capability` makes one"
    )
    with psycopg.connect(url, autocommit=True) as owner:
        # When a function is another version's
        owner.execute(
            "create or replace function authority.global_lock() returns bigint language sql as 'select 1::bigint'"
        )
        assert doctor()["schema"]["found"] == "has other functions than this version: global_lock"
        # When a later version has migrated it
        owner.execute("insert into _yoyo_migration (migration_hash, migration_id) values ('x', '9999.later')")
        assert doctor()["schema"]["found"] == "is newer than this version: it has 9999.later"
        assert doctor()["schema"]["state"] == "warning"
        # When one of this version was never applied
        owner.execute("delete from _yoyo_migration where migration_id = '0001.schema'")
        assert (doctor()["schema"]["state"], doctor()["schema"]["found"]) == ("problem", "lacks 0001.schema")
        # When the version before has migrated it, which let nobody see how far
        owner.execute("revoke select on _yoyo_migration from authority_read")
        assert doctor()["schema"]["found"] == "is older than this version"


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("fsync", "off", "fsync is off: "),
        ("full_page_writes", "off", "full_page_writes is off: "),
        ("synchronous_commit", "off", "synchronous_commit is off: "),
    ],
)
def test_a_server_that_may_forget_is_told(
    doctor: Doctor, superuser: psycopg.Connection, name: str, value: str, found: str
) -> None:
    with server_setting(superuser, name, value):
        examined = doctor()

    assert examined.not_ok() == ["durability"]
    assert examined["durability"]["found"].startswith(found)


def test_standbys_that_nobody_waits_for_are_told(doctor: Doctor, superuser: psycopg.Connection, login: str) -> None:
    superuser.execute(f"alter role {login} set synchronous_commit = local".encode())
    assert doctor().not_ok() == []

    with server_setting(superuser, "synchronous_standby_names", "nobody"):
        assert doctor()["durability"]["found"].startswith("synchronous_commit is local: ")
        superuser.execute("set synchronous_commit = local")  # Nobody confirms what this connection commits.
        superuser.execute(f"alter role {login} reset synchronous_commit".encode())
        assert doctor()["durability"]["found"].endswith("a synchronous standby confirms each commit")


@pytest.mark.parametrize(
    ("setting", "check", "found"),
    [
        ("set default_transaction_isolation = 'serializable'", "isolation", "the default is SERIALIZABLE"),
        ("set default_transaction_read_only = on", "postgresql", "takes no writes"),
        ("connection limit 5", "connections", "PostgreSQL lets in 5; 1 worker may open 58"),
    ],
)
def test_defaults_of_the_login_that_hinder_are_told(
    doctor: Doctor, superuser: psycopg.Connection, login: str, setting: str, check: str, found: str
) -> None:
    superuser.execute(f"alter role {login} {setting}".encode())

    examined = doctor()

    assert examined.not_ok() == [check]
    assert found in examined[check]["found"]


@pytest.mark.parametrize(
    ("off_ms", "state"),
    [(0, State.OK), (3_500, State.WARNING), (-3_500, State.WARNING), (9_000, State.PROBLEM), (-9_000, State.PROBLEM)],
)
async def test_clocks_that_differ_are_told(endpoint: Endpoint, off_ms: int, state: State) -> None:
    settings = load_settings()
    subject = Subject(
        settings=settings,
        database_url=settings.database_url.get_secret_value(),
        redis_url=settings.redis_url.get_secret_value(),
    )

    found = {one.check: one for one in await examine(subject, WrongClock(off_ms))}

    assert found["clock"].state is state
    assert found["redis clock"].state is (State.WARNING if abs(off_ms) > 5_000 else State.OK)
    assert ("behind" in found["clock"].found) is (off_ms > 1_000)


async def test_versions_and_standbys_that_will_not_do_are_told(endpoint: Endpoint) -> None:
    # Given what a real server says, but for what no server here can say
    facts = await examine_postgres(endpoint.admin_database_url, SystemClock().now, within_s=20)

    for said, remedy in (
        ({"version": "15.4", "version_number": 150_004}, "use PostgreSQL 16 or newer"),
        ({"is_standby": True}, "name the primary in the URL"),
    ):
        (found,) = database.look_at_server(replace(facts, server={**facts.server, **said}), 1)
        assert (found.state, found.remedy) == (State.PROBLEM, remedy)


def test_events_that_are_not_delivered_are_told(
    doctor: Doctor, login: str, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a database in which one event has waited for long, and another was given up
    url = ensure_database(endpoint.admin_database_url, "undelivered")
    migrate(url)
    monkeypatch.setenv("AUTHORITY_DATABASE_URL", f"postgresql://{login}:{PASSWORD}@{url.rpartition('@')[2]}")
    assert doctor()["delivery"]["state"] == "ok"
    with psycopg.connect(url, autocommit=True) as owner:
        for number in (1, 2):
            owner.execute(
                "insert into authority.outbox"
                " (tenant, id, aggregatetype, aggregateid, sequence, type, payload, traceparent, create_time)"
                " values ('t|t', gen_random_uuid(), 'memory_record', 'r', %s, 'memory.committed.v1', '{}', '',"
                " now() - interval '1 hour')",
                (number,),
            )
        owner.execute("update authority.outbox set parked = true where sequence = 1")
        owner.execute(
            "insert into authority.outbox_parked (tenant, id, attempts, last_error, park_time)"
            " select tenant, id, 9, 'why', now() from authority.outbox where parked"
        )

    waiting, parked = doctor().all("delivery")

    assert waiting["state"] == "warning"
    assert waiting["found"].startswith("events that wait: 1, the oldest for 36")
    assert (parked["state"], parked["found"]) == ("warning", "events that were given up: 1")
