"""Commit functions that are wrong on purpose: one place of the real one's text is changed in a database of its own."""

from importlib.resources import files

import psycopg

SQL_MUTANTS: dict[str, tuple[str, str]] = {
    "the audit log is not told": ("from winner w),\n  consumed as", "from winner w where false),\n  consumed as"),
    "the capability is not consumed": ("c.capability_id = w.capability_id)\n  update", "false)\n  update"),
    "a revoked holder is overlooked": ("c.state = 'revoked' or holder.state = 'revoked'", "c.state = 'revoked'"),
    "a conflict is answered as a replay": ("when own.fingerprint = a.fingerprint", "when own.receipt_id is not null"),
}
"""What is wrong, and the text that is exchanged for it."""


def install(mutant: str, database_url: str) -> None:
    """Puts the wrong function in the place of the right one."""
    right, wrong = SQL_MUTANTS[mutant]
    text = files("authority.postgres").joinpath("functions/4_commit.sql").read_text()
    assert text.count(right) == 1, "the commit function no longer says this"
    mutated = text.replace(right, wrong).replace("create function", "create or replace function")
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(mutated)
