"""The port `Recall`."""

from collections.abc import Iterator
from dataclasses import dataclass

from authority.domain import limits
from authority.domain.freshness import Freshness
from authority.domain.reasons import Reason
from authority.domain.recall import RecallAnswer, RecallHit, RecallPosition, RecallQuery
from authority.domain.record import MemoryRecord
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.search_text import search_text
from authority.inprocess.searching import SearchedWords
from authority.inprocess.tables import Tables
from authority.usecases.weights import weight_of_record


@dataclass(frozen=True, slots=True)
class InProcessRecall:
    """Implements `ports.Recall`."""

    tables: Tables

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
        """The hits after `after`, best first."""
        if fresh and not self._has(tenant, fresh):
            return Refusal(Reason.DEPENDENCY_UNAVAILABLE)
        visible = self.tables.recalled_records(tenant, reader, now, with_unvalidated=query.with_unvalidated)
        found = sorted(self._hits(query, visible), key=lambda hit: hit.position, reverse=True)
        rest = [hit for hit in found if after is None or hit.position < after]
        hits = tuple(_fitting(rest[:size]))
        return RecallAnswer(hits, is_last=len(hits) == len(rest))

    def _hits(self, query: RecallQuery, visible: Iterator[MemoryRecord]) -> Iterator[RecallHit]:
        for record in visible:
            words = SearchedWords(search_text(record.content, record.media_type))
            if _is_wanted(record, query) and words.matches(query.text):
                revision = self.tables.revisions.get((record.tenant, record.proposal_id, record.proposal_revision))
                observe_time = revision.revision.create_time if revision else record.create_time
                yield RecallHit(record, words.score(query.text), observe_time)

    def _has(self, tenant: TenantRef, fresh: Freshness) -> bool:
        if fresh.receipt_id is not None:
            return (tenant, fresh.receipt_id) in self.tables.receipts
        return any(
            of_tenant == tenant and tombstone.sequence == fresh.tombstone_sequence
            for (of_tenant, *_), tombstones in self.tables.tombstones.items()
            for tombstone in tombstones
        )


def _is_wanted(record: MemoryRecord, query: RecallQuery) -> bool:
    return (
        record.memory_namespace == query.memory_namespace
        and (not query.memory_types or record.memory_type in query.memory_types)
        and (not query.provenances or record.provenance in query.provenances)
        and (not query.source_refs or not set(query.source_refs).isdisjoint(record.source_refs))
        and (not query.subject_refs or not set(query.subject_refs).isdisjoint(record.subject_refs))
        and (query.created_after_time is None or record.create_time >= query.created_after_time)
        and (query.created_before_time is None or record.create_time < query.created_before_time)
    )


def _fitting(hits: list[RecallHit]) -> Iterator[RecallHit]:
    """The first, and those after it that fit into one answer with it."""
    total = 0
    for hit in hits:
        total += weight_of_record(hit.record)
        if total > limits.PAGE_BYTES and hit is not hits[0]:
            return
        yield hit
