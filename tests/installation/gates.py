"""Makes the commit function stand still, or fail, at one of the rows that it writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import psycopg

_LOCK: Final = 4_711
_WAIT: Final = f"""
create or replace function public.wait_at_gate() returns trigger language plpgsql set lock_timeout = 0 as $$
begin
  perform pg_advisory_xact_lock_shared({_LOCK});
  return new;
end $$
"""
_FAIL: Final = """
create or replace function public.fail_on_purpose() returns trigger language plpgsql as $$
begin
  raise exception 'fails on purpose: SECRET' using errcode = tg_argv[0];
end $$
"""
WRITES: Final = (
    ("commit_receipt", "insert"),
    ("memory_record", "insert"),
    ("outbox", "insert"),
    ("audit_event", "insert"),
    ("capability", "update"),
    ("proposal_head", "update"),
)
"""What one commit writes, row by row."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Closed until it is opened."""

    connection: psycopg.Connection

    def waiting(self) -> list[int]:
        """The process ids of the backends that stand at the gate."""
        rows = self.connection.execute(
            "select l.pid from pg_locks l join pg_stat_activity a on a.pid = l.pid"
            " where l.locktype = 'advisory' and l.objid = %s and not l.granted and a.datname = current_database()",
            (_LOCK,),
        )
        return [row[0] for row in rows]

    def open(self) -> None:
        """Lets everybody through."""
        self.connection.execute("select pg_advisory_unlock_all()")

    def break_off(self) -> None:
        """Ends the backends that stand at the gate: what they began is undone."""
        for pid in self.waiting():
            self.connection.execute("select pg_terminate_backend(%s, 10000)", (pid,))


@contextmanager
def gate(
    admin_url: str, table: str, event: str = "insert", *, at_commit: bool = False, when: str = "true"
) -> Iterator[Gate]:
    """A closed gate before each row of this table of which `when` holds, or before the COMMIT of whoever wrote one."""
    trigger = f"create trigger gate before {event} on authority.{table}"
    if at_commit:
        trigger = f"create constraint trigger gate after {event} on authority.{table} deferrable initially deferred"
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(_WAIT)
        connection.execute("select pg_advisory_lock(%s)", (_LOCK,))
        connection.execute(f"{trigger} for each row when ({when}) execute function public.wait_at_gate()".encode())
        try:
            yield Gate(connection)
        finally:
            connection.execute("select pg_advisory_unlock_all()")
            connection.execute(f"drop trigger gate on authority.{table}".encode())


@contextmanager
def failing(admin_url: str, table: str, event: str, sqlstate: str, *, when: str = "true") -> Iterator[None]:
    """Every write of a row of this table of which `when` holds fails with this SQLSTATE while the block lasts."""
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(_FAIL)
        connection.execute(
            f"create trigger failing before {event} on authority.{table}"
            f" for each row when ({when}) execute function public.fail_on_purpose('{sqlstate}')".encode()
        )
        try:
            yield
        finally:
            connection.execute(f"drop trigger failing on authority.{table}".encode())
