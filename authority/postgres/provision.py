"""Makes a new server ready: a database of its own, and a login for the service."""

import contextlib
from collections.abc import Iterator

import psycopg
from psycopg import conninfo, errors, sql

from authority.postgres.migrate import wait_for_turn

SERVICE = "authority_service"
"""The role that the service logs in as; it may take on its powers and has no right of its own."""
POWERS = ("authority_commit", "authority_propose", "authority_issue", "authority_read", "authority_relay")
"""What a login needs to serve."""


class LoginRefused(Exception):
    """The service cannot be let in. The message says who has to run what; it never holds a password."""


def ensure_database(url: str, name: str) -> str:
    """Creates the database unless it exists, and answers with its URL. `url` is a superuser's, of any database."""
    with psycopg.connect(url, autocommit=True) as connection:
        if not connection.execute("select 1 from pg_database where datname = %s", (name,)).fetchone():
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    return f"{url.rpartition('/')[0]}/{name}"


def ensure_service_login(url: str, password: str) -> str:
    """Lets `authority_service` log in with the password, and answers with its URL. Run after the migrations.

    Raises LoginRefused when `url`'s user may not allow it, and the service may not do so already.
    """
    with _changing_logins(url) as connection:
        try:
            _set_login(connection, password)
        except errors.InsufficientPrivilege as error:
            if not _may_log_in(url, password):
                raise LoginRefused(
                    f"{SERVICE} was made by another role: it or a superuser has to run ALTER ROLE {SERVICE} LOGIN"
                    " PASSWORD '…'; with the password of the URL"
                ) from error
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{SERVICE}:{password}@{rest.rpartition('@')[2]}"


def ensure_powers(url: str, user: str) -> None:
    """Lets a login that exists take on the service's powers; it inherits none. Run after the migrations.

    Raises LoginRefused when there is no such user, or when `url`'s user may not grant them.
    """
    with _changing_logins(url) as connection:
        if not connection.execute("select 1 from pg_roles where rolname = %s", (user,)).fetchone():
            raise LoginRefused(f"there is no role {user}: create it with a login, or name {SERVICE}")
        asked = "select power from unnest(%s::text[]) power where not pg_has_role(%s::text, power, 'SET')"
        missing = [sql.Identifier(power) for (power,) in connection.execute(asked, (list(POWERS), user))]
        if not missing:
            return
        grant = sql.SQL("GRANT {} TO {} WITH INHERIT FALSE, SET TRUE").format(
            sql.SQL(", ").join(missing), sql.Identifier(user)
        )
        try:
            connection.execute(grant)
        except errors.InsufficientPrivilege as error:
            raise LoginRefused(
                f"the authority_… roles were made by another role: it or a superuser has to run {grant.as_string()};"
            ) from error


@contextlib.contextmanager
def _changing_logins(url: str) -> Iterator[psycopg.Connection]:
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            wait_for_turn(connection)
            yield connection
    except psycopg.Error as error:
        raise LoginRefused(str(error).strip()) from error


def _set_login(connection: psycopg.Connection, password: str) -> None:
    # Only the verifier leaves this process: statements may be logged.
    verifier = connection.pgconn.encrypt_password(password.encode(), SERVICE.encode(), b"scram-sha-256").decode()
    connection.execute(sql.SQL("alter role {} login password {}").format(sql.Identifier(SERVICE), verifier))


def _may_log_in(url: str, password: str) -> bool:
    """Whether it can be done on this very server."""
    try:
        psycopg.connect(conninfo.make_conninfo(url, user=SERVICE, password=password)).close()
    except psycopg.OperationalError:
        return False
    return True
