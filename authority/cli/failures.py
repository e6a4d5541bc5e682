"""What a command ends with when it does not succeed: one sentence, and a code that scripts can tell apart."""

import traceback

import typer

from authority.bootstrap.faults import DatabaseUnusable
from authority.config import SettingsError
from authority.embedded import EmbeddedError
from authority.postgres.migrate import MigrationFailed
from authority.signing.secret_file import SecretRefused
from authority.usecases.administer import AlreadyThere, NotThere
from authority.usecases.ports import NoSigningKey
from capability_authority.client import CredentialsRefused

REFUSED = 1
"""What was asked for was refused, or could not be done."""
MISUSED = 2
"""The command, or a setting, is wrong."""
INTERRUPTED = 130
"""Ctrl-C, as shells count it: 128 and SIGINT."""


class Refused(typer.TyperException):
    """The command was understood and its answer is no. The message says why and, where there is one, the remedy."""

    exit_code = REFUSED


class Misused(typer.TyperException):
    """The command cannot be understood as it was given. The message names the argument or setting and the remedy."""

    exit_code = MISUSED


_REFUSALS = (NotThere, AlreadyThere, EmbeddedError, DatabaseUnusable, NoSigningKey, SecretRefused, CredentialsRefused)
"""Their messages are sentences for the operator."""


def explain(error: Exception) -> tuple[str, int]:
    """The sentence to print for an exception that ended a command, and the exit code."""
    match error:
        case typer.TyperException():
            return _with_hint(error), error.exit_code
        case SettingsError():
            return str(error), MISUSED
        case OSError():
            place = f"{error.filename}: " if error.filename else ""
            return f"{place}{error.strerror or error}", REFUSED
    if isinstance(error, MigrationFailed):
        return f"the database could not be migrated: {' '.join(str(error).split())}", REFUSED
    if isinstance(error, _REFUSALS):
        return str(error), REFUSED
    return f"{_unexpected(error)}. This is a defect; AUTHORITY_LOG_LEVEL=debug shows where it arose.", REFUSED


def trace_of(error: Exception) -> str:
    """Where it arose, for who asked to see it."""
    return "".join(traceback.format_exception(error))


def _with_hint(error: typer.TyperException) -> str:
    """Our own sentences as they are; Typer's in one line, with the command whose help says more."""
    context = getattr(error, "ctx", None)
    if context is None:
        return error.format_message()
    sentence = " ".join(error.format_message().replace("Value error, ", "").split())
    return f"{sentence} (see {context.command_path} --help)" if sentence else ""


def _unexpected(error: Exception) -> str:
    first = next(iter(str(error).splitlines()), "")
    return f"unexpected {type(error).__name__}{f': {first}' if first else ''}"
