"""Finds learned memory by keywords: PostgreSQL's full text search, filtered before it ranks (semantics §8)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from authority.domain import limits
from authority.domain.freshness import Freshness
from authority.domain.reasons import Reason
from authority.domain.recall import RecallAnswer, RecallHit, RecallPosition, RecallQuery
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.search_text import parted
from authority.postgres import rows
from authority.postgres.connections import Database
from authority.postgres.sql import query as statement

_MINUS: Final = re.compile(r"-[\s!&|()]*")
"""A minus sign, with what the parser of queries passes over after it."""
_MANY_MINUSES: Final = re.compile(rf"(?:{_MINUS.pattern}){{18,}}")
"""The parser keeps a place for each of a row, and fails when it has more than 32."""


@dataclass(frozen=True, slots=True)
class PostgresRecall:
    """Implements `ports.Recall`."""

    database: Database

    async def search(
        self,
        tenant: TenantRef,
        query: RecallQuery,
        *,
        reader: PrincipalRef,
        after: RecallPosition | None,
        size: int,
        fresh: Freshness | None,
        now: Instant,
    ) -> RecallAnswer | Refusal:
        """The hits after `after`, in one statement: one snapshot answers for freshness, visibility and rank."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            await connection.execute(statement("plan_recall_anew"))
            found = await connection.fetch(
                statement("recall_page"),
                str(tenant),
                query.memory_namespace,
                str(reader),
                now,
                _parsable(query.text),
                _words(query.memory_types),
                _words(query.provenances),
                list(query.source_refs) or None,
                list(query.subject_refs) or None,
                query.created_after_time,
                query.created_before_time,
                size,
                after.score if after else None,
                after.create_time if after else None,
                after.record_id if after else None,
                fresh.receipt_id if fresh else None,
                fresh.tombstone_sequence if fresh else None,
                limits.PAGE_BYTES,
                query.with_unvalidated,
            )
        if not found[0]["is_fresh"]:
            return Refusal(Reason.DEPENDENCY_UNAVAILABLE)
        hits = tuple(_hit(row) for row in found if row["record_id"] is not None)
        return RecallAnswer(hits, is_last=not found[0]["has_more"])


def _hit(row: rows.Row) -> RecallHit:
    return RecallHit(rows.memory_record(row), row["score"], row["observe_time"])


def _parsable(text: str) -> str:
    """The same query, its words parted as those that are searched, with no more minus signs than the parser takes.

    Of a row there are as evenly, or as oddly, many as before.
    """
    return _MANY_MINUSES.sub(_fewer, parted(text))


def _fewer(row: re.Match[str]) -> str:
    minuses = _MINUS.findall(row[0])
    return "".join(minuses[-(16 + len(minuses) % 2) :])


def _words(members: Iterable[Enum]) -> list[str] | None:
    """The members as they are stored; None for none, which filters nothing."""
    return [member.value for member in members] or None
