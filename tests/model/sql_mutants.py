"""Functions of the database that are wrong on purpose: one place of their text is changed, in a database of its own."""

from dataclasses import dataclass
from importlib.resources import files

import psycopg


@dataclass(frozen=True, slots=True)
class SqlMutant:
    """The text that is exchanged, for which, and rules of the machine that suffice to find it."""

    right: str
    wrong: str
    rules: frozenset[str]
    file: str = "06_commit.sql"


SQL_MUTANTS: dict[str, SqlMutant] = {
    "the audit log is not told": SqlMutant(
        "from winner w),\n  consumed as", "from winner w where false),\n  consumed as", frozenset({"commit"})
    ),
    "the capability is not consumed": SqlMutant(
        "c.capability_id = w.capability_id)\n  update", "false)\n  update", frozenset({"commit"})
    ),
    "a revoked holder is overlooked": SqlMutant(
        "c.state = 'revoked' or holder.state = 'revoked'", "c.state = 'revoked'", frozenset({"revoke"})
    ),
    "a conflict is answered as a replay": SqlMutant(
        "when own.fingerprint = a.fingerprint", "when own.receipt_id is not null", frozenset({"commit_with_another"})
    ),
    "of a batch the first by key wins": SqlMutant(
        "partition by p.tenant, p.proposal_id order by p.ordinality) as of_proposal",
        "partition by p.tenant, p.proposal_id, p.capability_id order by p.ordinality) as of_proposal",
        frozenset({"make_record"}),
    ),
    "a corrected record is not marked": SqlMutant(
        "where m.tenant = c.tenant and m.record_id = c.record_id", "where false", frozenset({"make_corrections"})
    ),
    "a correction of what was revoked lands": SqlMutant(
        "when s.record_id is not null and exists (", "when false and exists (", frozenset({"make_corrections"})
    ),
    "what was superseded is read on": SqlMutant(
        "where r.superseded_by is null", "where true", frozenset({"make_corrections"}), "12_visible_records.sql"
    ),
    "a revoked grant is overlooked": SqlMutant(
        "bool_or(block.state = 'revoked') as is_revoked",
        "bool_or(block.state = 'revoked' and block.expire_time <= judged_at) as is_revoked",
        frozenset({"lend", "make_ready_under", "revoke_grant"}),
        "13_grant_standing.sql",
    ),
    "a retry undoes a revocation": SqlMutant(
        "where request.digest is not null and o.tenant = a.tenant and o.state = 'revoked'",
        "where false and o.tenant = a.tenant and o.state = 'revoked'",
        frozenset({"exchange"}),
        "10_issue.sql",
    ),
}
"""What is wrong, by its name."""


def install(mutant: SqlMutant, database_url: str) -> None:
    """Puts the wrong function in the place of the right one."""
    text = files("authority.postgres").joinpath("functions", mutant.file).read_text()
    assert text.count(mutant.right) == 1, "the function no longer says this"
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(text.replace(mutant.right, mutant.wrong))
