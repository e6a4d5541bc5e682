"""What the database did in a window: calls of functions, rows that were looked at, bytes of WAL."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import psycopg

_COUNT_FUNCTIONS: Final = "alter database authority set track_functions = 'pl'"
_FUNCTIONS: Final = "select funcname, calls, total_time from pg_stat_user_functions where schemaname = 'authority'"
_ROWS: Final = """
select relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) from pg_stat_user_tables
where schemaname = 'authority'
"""
_WAL: Final = "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn"
_TOLD_WITHIN_S: Final = 1.1
"""After a second backends tell what they counted, as soon as they have something else to do."""


def count_functions(admin_url: str) -> None:
    """From the next connection on, calls of functions are counted: a clock is read twice for each."""
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(_COUNT_FUNCTIONS)


def settle(admin_url: str) -> None:
    """Does at once what autovacuum does within minutes: statistics of tables are true, and plans are made anew."""
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute("vacuum analyze")


@dataclass(frozen=True, slots=True)
class _Counters:
    functions: Mapping[str, tuple[float, ...]]
    """Calls, and milliseconds."""
    rows: Mapping[str, tuple[float, ...]]
    """Of tables: rows that were looked at."""
    wal_bytes: int


class DatabaseWindow:
    """A window that begins when it is made. Its edges are a second wide, for backends tell late what they counted."""

    def __init__(self, admin_url: str) -> None:
        self._admin_url = admin_url
        self._before = self._read()

    def detail(self, operations: int, *, alone: bool = True) -> dict[str, object]:
        """What was counted since; `operations` happened meanwhile. Only calls unless they were all that happened."""
        before, after = self._before, self._read()
        functions = {
            name: {
                "calls": calls,
                "operations_a_call": round(operations / calls, 1),
                "ms_a_call": round(milliseconds / calls, 2),
            }
            for name, (calls, milliseconds) in _since(before.functions, after.functions).items()
        }
        if not alone:
            return {"functions": functions}
        rows = {name: round(seen / operations, 2) for name, (seen,) in _since(before.rows, after.rows).items()}
        wal = (after.wal_bytes - before.wal_bytes) // operations
        return {"functions": functions, "rows_read_each": rows, "wal_bytes_each": wal}

    def _read(self) -> _Counters:
        time.sleep(_TOLD_WITHIN_S)
        with psycopg.connect(self._admin_url, autocommit=True) as connection:
            functions = {name: tuple(counted) for name, *counted in connection.execute(_FUNCTIONS)}
            rows = {name: tuple(counted) for name, *counted in connection.execute(_ROWS)}
            row = connection.execute(_WAL).fetchone()
        assert row is not None
        return _Counters(functions, rows, int(row[0]))


def _since(
    before: Mapping[str, tuple[float, ...]], after: Mapping[str, tuple[float, ...]]
) -> dict[str, tuple[float, ...]]:
    """The differences, of what was counted at all."""
    counted = {
        name: tuple(now - then for now, then in zip(counts, before.get(name, (0,) * len(counts)), strict=True))
        for name, counts in after.items()
    }
    return {name: counts for name, counts in counted.items() if counts[0]}
