"""What keeps the wiring from its database, told to the operator."""

import contextlib
from collections.abc import Iterator

import asyncpg

from authority.usecases.ports import DependencyUnavailable


class DatabaseUnusable(Exception):
    """The database is away, or not in the state that is needed; the message names the setting and the remedy."""


@contextlib.contextmanager
def naming(setting: str) -> Iterator[None]:
    """Tells what goes wrong in the block with the database of this setting as `DatabaseUnusable`."""
    try:
        yield
    except (DependencyUnavailable, OSError, asyncpg.InterfaceError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise  # A file's, not the connection's.
        cause = _words(error if isinstance(error, TimeoutError) else error.__cause__ or error)
        raise DatabaseUnusable(
            f"the database of {setting} cannot be reached ({cause}): is it running, and is the URL right?"
        ) from error
    except asyncpg.PostgresError as error:
        raise DatabaseUnusable(f"the database of {setting} refuses ({error}): {_remedy(setting)}") from error


def _remedy(setting: str) -> str:
    if setting == "AUTHORITY_DATABASE_URL":
        return (
            "has `authority migrate` been run on it with this same AUTHORITY_DATABASE_URL? That lets the URL's user"
            " log in and serve"
        )
    return "has `authority migrate` been run on it, and are user and password right?"


def _words(cause: BaseException) -> str:
    """What the cause says; a time that ran out says nothing by itself."""
    return "no answer in time" if isinstance(cause, TimeoutError) else str(cause) or type(cause).__name__
