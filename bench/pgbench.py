"""pgbench doing what one commit does, as ordinary statements in one transaction: what batches are held to."""

import re
import resource
import subprocess
from dataclasses import replace
from importlib import resources
from typing import Any, Final
from urllib.parse import urlsplit

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from authority.embedded.account import account_for
from authority.embedded.binaries import postgres_programs
from bench.cpu import Groups, Window
from bench.database import settle
from bench.figures import note
from bench.installation import Installation
from bench.load import Round

_FIRST: Final = 100_000_000_000
"""Numbers have twelve digits, as the last group of a UUID."""
_THREADS: Final = 2
_TPS: Final = re.compile(r"^tps = ([0-9.]+) \(without initial connection time\)$", re.MULTILINE)


class PgbenchFailed(Exception):
    """pgbench did not do what it should. The message holds what it wrote."""


class Pgbench:
    """Runs pgbench over rows of its own, another one in each transaction.

    Made once the service has committed something: pgbench gets a copy of that to commit, and sends what was sent.
    """

    def __init__(self, installation: Installation, groups: Groups, rows: int) -> None:
        """Makes so many rows."""
        self._groups = groups
        self._program = postgres_programs(account_for(installation.servers.postgres.folder)) / "pgbench"
        self._url = installation.admin_url
        with psycopg.connect(self._url, cursor_factory=psycopg.ClientCursor) as connection:
            connection.execute(_sql("seed_tenant.sql"))
            self._first, self._records = _FIRST + _count(connection, "proposal"), _count(connection, "memory_record")
            connection.execute(_sql("seed_rows.sql"), {"first": self._first, "last": self._first + rows - 1})
        settle(self._url)
        with psycopg.connect(self._url) as connection:
            sample = connection.cursor(row_factory=dict_row).execute(_sql("sample.sql")).fetchone()
            assert sample is not None
        self._sent = {name: _text(value) for name, value in sample.items()}
        note(f"… {rows} rows made for pgbench")

    def run(self, clients: int, transactions: int) -> Round:
        """So many transactions by so many clients. Raises PgbenchFailed unless each of them committed."""
        each = transactions // clients
        window, before = Window(self._groups), _ended_children_seconds()
        ended = subprocess.run(
            self._command(clients, each), env=self._environment(), capture_output=True, text=True, check=False
        )
        used = window.end()
        by_group = {**used.by_group, "clients": _ended_children_seconds() - before}
        used = replace(used, by_group=by_group, most={**used.most, "clients": _THREADS})
        found = _TPS.search(ended.stdout)
        if ended.returncode or found is None:
            raise PgbenchFailed(ended.stdout + ended.stderr)
        self._check(each * clients)
        return Round(each * clients, each * clients / float(found.group(1)), (), used)

    def _command(self, clients: int, each: int) -> list[str]:
        """No vacuum before, prepared statements, and what the service would be sent with each commit."""
        given = {"first": self._first, "each": each, "i": 0, **self._sent}
        return [
            str(self._program),
            "--no-vacuum",
            "--protocol=prepared",
            f"--file={resources.files('bench').joinpath('sql', 'one_commit.sql')}",
            f"--client={clients}",
            f"--jobs={min(clients, _THREADS)}",
            f"--transactions={each}",
            *(f"--define={name}={value}" for name, value in given.items()),
        ]

    def _environment(self) -> dict[str, str]:
        """Where to connect; the process list shows no password."""
        url = urlsplit(self._url)
        return {
            "PGHOST": url.hostname or "",
            "PGPORT": str(url.port),
            "PGUSER": url.username or "",
            "PGPASSWORD": url.password or "",
            "PGDATABASE": url.path.removeprefix("/"),
        }

    def _check(self, transactions: int) -> None:
        """Statements that find no row fail nowhere: what counts is what was written."""
        self._first += transactions
        with psycopg.connect(self._url) as connection:
            written = _count(connection, "memory_record") - self._records
        self._records += written
        if written != transactions:
            raise PgbenchFailed(f"pgbench wrote {written} records in {transactions} transactions")


def _count(connection: psycopg.Connection, table: str) -> int:
    """Rows of pgbench's own."""
    counted = sql.SQL("select count(*) from authority.{} where tenant = 'bench|pgbench'").format(sql.Identifier(table))
    row = connection.execute(counted).fetchone()
    assert row is not None
    count: int = row[0]
    return count


def _sql(name: str) -> bytes:
    return resources.files("bench").joinpath("sql", name).read_bytes()


def _text(value: Any) -> str:  # noqa: ANN401 - whatever a column holds
    return f"\\x{value.hex()}" if isinstance(value, bytes) else str(value)


def _ended_children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
