"""Makes a new server ready: a database of its own, and a login for the service."""

import psycopg
from psycopg import sql


def ensure_database(url: str, name: str) -> str:
    """Creates the database unless it exists, and answers with its URL. `url` is a superuser's, of any database."""
    with psycopg.connect(url, autocommit=True) as connection:
        if not connection.execute("select 1 from pg_database where datname = %s", (name,)).fetchone():
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    return f"{url.rpartition('/')[0]}/{name}"


def ensure_service_login(url: str, password: str) -> str:
    """Lets `authority_service` log in with the password, and answers with its URL. Run after the migrations."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("alter role authority_service login password {}").format(sql.Literal(password)))
    scheme, _, rest = url.partition("://")
    return f"{scheme}://authority_service:{password}@{rest.rpartition('@')[2]}"
