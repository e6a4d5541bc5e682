"""Keeps who cited a record, and tells it (semantics §8)."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.citation import Citation, Cited, CitedRecord, NewCitation
from authority.domain.identity import Caller, Right, require
from authority.domain.refusal import Refusal
from authority.usecases.admit import Admit
from authority.usecases.paging import Page, PageRequest, Pages
from authority.usecases.ports import Citations, Clock, Identifiers, Receipts, RequestMark, Statements


@dataclass(frozen=True, slots=True)
class CitationRequest:
    """Which record is cited, and by what: a kind and a name of the citer's own."""

    mark: RequestMark
    record_id: str
    citing_kind: str
    citing_ref: str


@dataclass(frozen=True, slots=True)
class RegisterCitation:
    """Keeps that something of the caller's rests on a record. The same thing cites a record once."""

    admit: Admit
    statements: Statements
    receipts: Receipts
    citations: Citations
    clock: Clock
    identifiers: Identifiers

    async def __call__(self, caller: Caller, request: CitationRequest) -> Citation | Refusal:
        """The citation as it was kept first.

        Refusals: NOT_ALLOWED without the right to read; NOT_FOUND for a record that the caller cannot see now;
        IDEMPOTENCY_CONFLICT.
        """
        if refusal := await self.admit(caller) or require(caller, Right.READ):
            return refusal
        # There is none for what nobody validated, nor for what is not there, which is found out when it is kept.
        receipt = await self.receipts.by_record(caller.tenant, request.record_id)
        citation = NewCitation(
            citation_id=self.identifiers.new(),
            record_id=request.record_id,
            receipt_digest=self.statements.digest(receipt.statement) if receipt else None,
            citing_kind=request.citing_kind,
            citing_ref=request.citing_ref,
            create_time=self.clock.now(),
        )
        return await self.citations.register(request.mark, citation)


@dataclass(frozen=True, slots=True)
class ListCitations:
    """What cites a record or a content, page by page, in the order in which it was told."""

    admit: Admit
    citations: Citations
    pages: Pages

    async def __call__(self, caller: Caller, cited: Cited, page: PageRequest) -> Page[Citation] | Refusal:
        """Citations of records that the caller may see, or might if they were not revoked, superseded or expired.

        Refusals: NOT_ALLOWED without the right to read, MALFORMED for a page token of another tenant, caller or query.
        """
        if refusal := await self.admit(caller) or require(caller, Right.READ):
            return refusal

        async def fetch(after: str, size: int) -> Sequence[Citation]:
            return await self.citations.page(caller.tenant, cited, reader=caller.ref, after=after, size=size)

        query = ("citations", *_binding(cited))
        return await self.pages.turn(caller, query, page, fetch, lambda citation: citation.citation_id)


def _binding(cited: Cited) -> tuple[str, ...]:
    if isinstance(cited, CitedRecord):
        return ("record", cited.record_id)
    return ("content", cited.memory_namespace, cited.content_digest.hex())
