"""Finds learned memory by keywords: evidence, never a permission (semantics §8)."""

import json
from dataclasses import dataclass

from authority.domain.freshness import Freshness
from authority.domain.identity import Caller
from authority.domain.recall import RecallHit, RecallPosition, RecallQuery
from authority.domain.references import Instant
from authority.domain.refusal import Refusal
from authority.usecases.grants.read_under import Presented, ReadUnderGrant
from authority.usecases.known_namespaces import KnownNamespaces
from authority.usecases.paging import Page, PageRequest, Pages
from authority.usecases.ports import Clock, Recall, RevisionTokens


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A query, which page of its hits, and the revision token that they must be as fresh as; '' for any."""

    query: RecallQuery
    page: PageRequest
    at_least_as_fresh_as: str
    presented: Presented | None = None
    """In place of the caller's own right."""


@dataclass(frozen=True, slots=True)
class RecallRecords:
    """Visible records of one memory namespace that match, the best first, page by page."""

    reading: ReadUnderGrant
    recall: Recall
    known: KnownNamespaces
    revisions: RevisionTokens
    pages: Pages
    clock: Clock

    async def __call__(self, caller: Caller, request: RecallRequest) -> Page[RecallHit] | Refusal:
        """Rights and visibility are judged anew for each page.

        Refusals: MALFORMED (a token of another tenant, caller or query), NOT_ALLOWED, those of a grant, NOT_FOUND (an
        unknown memory namespace), DEPENDENCY_UNAVAILABLE (this database has not got what the revision token names yet:
        the same call may be made again).
        """
        fresh = self._fresh(caller, request.at_least_as_fresh_as)
        if isinstance(fresh, Refusal):
            return fresh
        turn = self.pages.open(caller, _binding(request.query), request.page)
        if isinstance(turn, Refusal):
            return turn
        reader = await self.reading.reader(caller, request.presented, request.query.memory_namespace)
        if isinstance(reader, Refusal):
            return reader
        answer = await self.recall.search(
            caller.tenant,
            request.query,
            reader=reader,
            after=_position(turn.after) if turn.after else None,
            size=request.page.size,
            fresh=fresh,
            now=self.clock.now(),
        )
        if isinstance(answer, Refusal):
            return answer
        found = turn.page(answer.hits, "" if answer.is_last else _text(answer.hits[-1].position))
        return await self.known.judge(caller.tenant, request.query.memory_namespace, found)

    def _fresh(self, caller: Caller, token: str) -> Freshness | Refusal | None:
        return self.revisions.open(caller.tenant, token) if token else None


def _binding(query: RecallQuery) -> tuple[str, ...]:
    """The whole query, one line each: a page is continued with the filters that it was begun with."""
    parts: list[object] = [
        query.memory_namespace,
        query.text,
        [it.value for it in query.memory_types],
        [it.value for it in query.provenances],
        query.source_refs,
        query.subject_refs,
        query.created_after_time,
        query.created_before_time,
        query.with_unvalidated,
    ]
    return ("recall", *map(json.dumps, parts))


def _text(position: RecallPosition) -> str:
    return f"{position.score} {position.create_time} {position.record_id}"


def _position(text: str) -> RecallPosition:
    score, create_time, record_id = text.split(" ")
    return RecallPosition(int(score), Instant(int(create_time)), record_id)
