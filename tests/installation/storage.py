"""What an operator sees in the database: the invariant of every case, and everything that must not have changed."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import psycopg
from psycopg import sql

from capability_authority.v1.statements_pb2 import CommitReceipt

COUNTS_OF_REFUSALS: Final = "refusal_count"
"""The one table that what is refused may change, once for each minute, principal and reason."""
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Counts:
    """What every commit makes one of."""

    records: int
    receipts: int
    events: int
    consumed: int


class Storage:
    """A superuser's view: past every wall."""

    def __init__(self, connection: psycopg.Connection, url: str) -> None:
        self._connection = connection
        self._url = url

    @contextmanager
    def transaction(self) -> "Iterator[Storage]":
        """The same view inside one transaction of its own, which ends with the block."""
        with psycopg.connect(self._url) as connection:
            yield Storage(connection, self._url)

    def ask(self, statement: str, *values: object) -> Rows:
        """The rows that one statement answers with."""
        cursor = self._connection.execute(statement.encode(), values)
        return cursor.fetchall() if cursor.description else []

    def one(self, statement: str, *values: object) -> Any:
        """The only value that one statement answers with."""
        ((value,),) = self.ask(statement, *values)
        return value

    def counts(self) -> Counts:
        """The four counts of all tenants, at one moment. What was written without validation is no commit."""
        (row,) = self.ask(
            "select (select count(*) from authority.memory_record where receipt_id is not null),"
            " (select count(*) from authority.commit_receipt),"
            " (select count(*) from authority.outbox where type = 'memory.committed.v1'),"
            " (select count(*) from authority.capability where state = 'consumed')"
        )
        return Counts(*row)

    def assert_whole(self) -> Counts:
        """The invariant of cases.md: the four counts agree, and so do the digests of each record and its receipt."""
        counts = self.counts()
        assert counts.records == counts.receipts == counts.events == counts.consumed, counts
        joined = self.ask(
            "select r.payload, m.record_id::text, m.content, m.content_digest, c.receipt_id = r.receipt_id,"
            " o.payload -> 'data' ->> 'contentDigest', h.state, h.receipt_id = r.receipt_id"
            " from authority.commit_receipt r"
            " join authority.memory_record m on m.tenant = r.tenant and m.receipt_id = r.receipt_id"
            " join authority.capability c on c.tenant = r.tenant and c.capability_id = r.capability_id"
            " join authority.outbox o on o.tenant = r.tenant and o.aggregateid = r.record_id::text"
            "  and o.type = 'memory.committed.v1'"
            " join authority.proposal_head h on h.tenant = r.tenant and h.proposal_id = r.proposal_id"
        )
        assert len(joined) == counts.receipts
        for payload, record_id, content, digest, consumed_by_it, told, state, head_names_it in joined:
            assert (type(payload), type(content), type(digest)) == (bytes, bytes, bytes)
            receipt = CommitReceipt.FromString(payload)
            assert receipt.record_id == record_id
            assert receipt.capability.content_digest == digest == hashlib.sha256(content).digest()
            assert told == f"sha256:{digest.hex()}"
            assert (consumed_by_it, state, head_names_it) == (True, "committed", True)
        return counts

    def dump(self, *tables: str) -> Mapping[str, Rows]:
        """Every row of these tables, or of all but the counts of refusals, in an order of its own."""
        dumped = {}
        for table in tables or self.tables():
            statement = sql.SQL("select t::text from authority.{} t order by 1").format(sql.Identifier(table))
            dumped[table] = self._connection.execute(statement).fetchall()
        return dumped

    def tables(self) -> list[str]:
        """Every table but the counts of refusals."""
        found = self.ask("select tablename from pg_tables where schemaname = 'authority' order by 1")
        return [table for (table,) in found if table != COUNTS_OF_REFUSALS]


@contextmanager
def storage_at(admin_url: str) -> Iterator[Storage]:
    """The view, each statement a transaction of its own."""
    with psycopg.connect(admin_url, autocommit=True) as connection:
        yield Storage(connection, admin_url)
