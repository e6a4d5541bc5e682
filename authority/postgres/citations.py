"""Who cited which record."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.citation import Citation, Cited, CitedRecord, NewCitation
from authority.domain.reasons import Reason
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.postgres import rows
from authority.postgres.connections import Connection, Database, Refused
from authority.postgres.proposals import FIRST_ID
from authority.postgres.requests import claim_request
from authority.postgres.sql import query
from authority.usecases.ports import RequestMark


@dataclass(frozen=True, slots=True)
class PostgresCitations:
    """Implements `ports.Citations`. `registering` may propose, `reading` may read."""

    registering: Database
    reading: Database

    async def register(self, mark: RequestMark, citation: NewCitation) -> Citation | Refusal:
        """Keeps it if its record is visible to the citer, in the statement that looks."""
        citer, terms = (str(mark.tenant), str(mark.principal)), (citation.citing_kind, citation.citing_ref)

        async def work(connection: Connection) -> Citation:
            if await claim_request(connection, mark, citation.record_id, citation.create_time) is None:
                await connection.execute(
                    query("insert_citation"),
                    *citer,
                    citation.record_id,
                    citation.citation_id,
                    citation.receipt_digest,
                    *terms,
                    citation.create_time,
                )
            # A new snapshot: of two that cite at once the one that stands is there.
            row = await connection.fetchrow(query("citation_by_terms"), *citer, citation.record_id, *terms)
            if row is None:
                raise Refused(Refusal(Reason.NOT_FOUND))
            return rows.citation(row)

        return await self.registering.attempt(mark.tenant, work)

    async def page(
        self, tenant: TenantRef, cited: Cited, *, reader: PrincipalRef, after: str, size: int
    ) -> Sequence[Citation]:
        """Citations in the order of their ids."""
        sql, terms = _asking_for(cited)
        async with self.reading.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(sql, str(tenant), str(reader), *terms, after or FIRST_ID, size)
        return [rows.citation(row) for row in found]


def _asking_for(cited: Cited) -> tuple[str, tuple[str | bytes, ...]]:
    if isinstance(cited, CitedRecord):
        return query("citations_of_record"), (cited.record_id,)
    return query("citations_of_content"), (cited.memory_namespace, cited.content_digest)
