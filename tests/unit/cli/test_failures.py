"""Every way in which a command fails: its sentence and its exit code."""

import pytest
import typer

from authority.bootstrap.faults import DatabaseUnusable
from authority.cli.failures import Misused, Refused, explain, trace_of
from authority.config import SettingsError
from authority.embedded import FolderInUse
from authority.postgres.migrate import MigrationFailed
from authority.signing.secret_file import SecretRefused
from authority.usecases.administer import AlreadyThere, NotThere
from authority.usecases.ports import NoSigningKey
from capability_authority.client import CredentialsExposed


@pytest.mark.parametrize(
    ("error", "sentence", "code"),
    [
        (Refused("no"), "no", 1),
        (Misused("what?"), "what?", 2),
        (typer.BadParameter("is wrong"), "Invalid value: is wrong", 2),
        (SettingsError("X is not set: set it"), "X is not set: set it", 2),
        (NotThere("no principal x"), "no principal x", 1),
        (AlreadyThere("x is there"), "x is there", 1),
        (FolderInUse("x is in use"), "x is in use", 1),
        (DatabaseUnusable("the database is away"), "the database is away", 1),
        (NoSigningKey("no key"), "no key", 1),
        (SecretRefused("x has mode 0644; chmod 600 it"), "x has mode 0644; chmod 600 it", 1),
        (CredentialsExposed("y has mode 0644; remedy: chmod 600 y"), "y has mode 0644; remedy: chmod 600 y", 1),
        (MigrationFailed("refused\n\tin two lines"), "the database could not be migrated: refused in two lines", 1),
        (FileNotFoundError(2, "No such file or directory", "/x"), "/x: No such file or directory", 1),
        (OSError("odd"), "odd", 1),
    ],
)
def test_a_failure_is_one_sentence(error: Exception, sentence: str, code: int) -> None:
    assert explain(error) == (sentence, code)


def test_what_nobody_foresaw_is_called_a_defect() -> None:
    sentence, code = explain(KeyError("x\ny"))

    assert sentence.startswith("unexpected KeyError: ")
    assert "AUTHORITY_LOG_LEVEL=debug" in sentence
    assert "\n" not in sentence
    assert code == 1


def test_where_it_arose_is_told_on_demand() -> None:
    def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError) as raised:
        fail()

    assert ", in fail\n" in trace_of(raised.value)
