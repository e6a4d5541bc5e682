"""The port `Citations`."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.citation import Citation, Cited, CitedRecord, NewCitation
from authority.domain.reasons import Reason
from authority.domain.record import MemoryRecord
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.inprocess.tables import Tables
from authority.usecases.ports import RequestMark


@dataclass(frozen=True, slots=True)
class InProcessCitations:
    """Implements `ports.Citations`."""

    tables: Tables

    async def register(self, mark: RequestMark, citation: NewCitation) -> Citation | Refusal:
        """Keeps it if its record is visible to the citer."""
        answered = self.tables.answered(mark, Citation)
        if answered is not None:
            return answered
        told = self._told(mark, citation)
        if told is None:
            record = self._visible(mark, citation)
            if record is None:
                return Refusal(Reason.NOT_FOUND)
            told = _citation(mark, citation, record)
            self.tables.citations[told.citation_id] = told
        return self.tables.answer(mark, told)

    async def page(
        self, tenant: TenantRef, cited: Cited, *, reader: PrincipalRef, after: str, size: int
    ) -> Sequence[Citation]:
        """Citations in the order of their ids."""
        found = [
            citation
            for citation_id, citation in sorted(self.tables.citations.items())
            if citation_id > after and citation.tenant == tenant and _is_of(citation, cited)
            if self._is_for(reader, citation)
        ]
        return found[:size]

    def _told(self, mark: RequestMark, new: NewCitation) -> Citation | None:
        terms = (mark.tenant, mark.principal, new.record_id, new.citing_kind, new.citing_ref)
        kept = self.tables.citations.values()
        return next(
            (it for it in kept if (it.tenant, it.cited_by, it.record_id, it.citing_kind, it.citing_ref) == terms), None
        )

    def _visible(self, mark: RequestMark, new: NewCitation) -> MemoryRecord | None:
        visible = self.tables.visible_records(mark.tenant, mark.principal, new.create_time)
        return next((it for it in visible if it.record_id == new.record_id), None)

    def _is_for(self, reader: PrincipalRef, citation: Citation) -> bool:
        record = self.tables.records[citation.tenant, citation.record_id].record
        return self.tables.is_shown(record, self.tables.reader(citation.tenant, reader))


def _citation(mark: RequestMark, new: NewCitation, record: MemoryRecord) -> Citation:
    return Citation(
        citation_id=new.citation_id,
        tenant=mark.tenant,
        record_id=record.record_id,
        memory_namespace=record.memory_namespace,
        content_digest=record.content_digest,
        receipt_digest=new.receipt_digest,
        cited_by=mark.principal,
        citing_kind=new.citing_kind,
        citing_ref=new.citing_ref,
        create_time=new.create_time,
    )


def _is_of(citation: Citation, cited: Cited) -> bool:
    if isinstance(cited, CitedRecord):
        return citation.record_id == cited.record_id
    content = (cited.memory_namespace, cited.content_digest)
    return (citation.memory_namespace, citation.content_digest) == content
