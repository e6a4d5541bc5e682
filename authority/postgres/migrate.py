"""Brings a database to this version: numbered migrations, then what may be replaced whole (rights and functions)."""

from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable

import psycopg
import yoyo

_REPLACED = ("rights", "functions")
_ONE_AT_A_TIME = 7166512843090231200
"""Advisory lock: of several processes that start at once one migrates and the others wait."""


class MigrationFailed(Exception):
    """The database could not be brought to this version. The message says which step failed and why."""


def migrate(url: str) -> list[str]:
    """Applies what is missing and returns the ids of the migrations applied. Safe to run at any time, by many at once.

    `url` is a `postgresql://` URL of the database's owner, who may create roles, or of a superuser. Raises
    MigrationFailed.
    """
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            wait_for_turn(connection)
            applied = _apply_numbered(url)
            for file in replaced_files():
                connection.execute(file.read_text(encoding="utf-8").encode())
            return applied
    except psycopg.Error as error:
        raise MigrationFailed(_words(error)) from error


def wait_for_turn(connection: psycopg.Connection) -> None:
    """Of several that change the same database's schema or logins one goes on; its turn is over with the connection."""
    connection.execute("select pg_advisory_lock(%s)", (_ONE_AT_A_TIME,))


def replaced_files() -> Iterator[Traversable]:
    """The SQL files that every migration runs again, in order."""
    for folder in _REPLACED:
        files = resources.files(__package__).joinpath(folder).iterdir()
        yield from sorted((file for file in files if file.name.endswith(".sql")), key=lambda file: file.name)


def _words(error: psycopg.Error) -> str:
    """What the server says, without the place in our SQL where it arose; or the driver, when it never got so far."""
    told = error.diag
    parts = (told.message_primary, told.message_detail, told.message_hint)
    return "\n".join(part for part in parts if part) or str(error).strip()


def _apply_numbered(url: str) -> list[str]:
    backend = yoyo.get_backend(url.replace("postgresql://", "postgresql+psycopg://", 1))
    try:
        with resources.as_file(resources.files(__package__).joinpath("migrations")) as folder:
            missing = backend.to_apply(yoyo.read_migrations(str(folder)))
            backend.apply_migrations(missing)
        return [migration.id for migration in missing]
    finally:
        backend.connection.close()
