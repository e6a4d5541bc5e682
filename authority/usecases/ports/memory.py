"""Learned memory: read, recalled, cited, explained, withdrawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from authority.domain.aggregate import AggregateCount
from authority.domain.citation import Citation, Cited, NewCitation
from authority.domain.freshness import Freshness
from authority.domain.history import AuditTrail, RecordHistory
from authority.domain.membership import Scope
from authority.domain.plan import CommitReceipt
from authority.domain.proposal import Provenance
from authority.domain.recall import RecallAnswer, RecallPosition, RecallQuery
from authority.domain.record import MemoryRecord, RecordParties
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.usecases.ports.requests import RequestMark


class Memberships(Protocol):
    """Which channels and teams principals belong to, now."""

    async def is_member(self, tenant: TenantRef, principal: PrincipalRef, scope: Scope) -> bool:
        """Whether the principal, unrevoked, is a live member."""
        ...


class Aggregates(Protocol):
    """Figures of other tenants' memory: the only thing that is told across tenants."""

    async def count(
        self, tenant: TenantRef, name: str, memory_namespace: str, now: Instant
    ) -> Sequence[AggregateCount] | None:
        """The figures of the tenant's aggregate of this name over this memory namespace; None when there is none."""
        ...


class Records(Protocol):
    """Reads learned memory. What is expired, revoked or outside its validity is absent."""

    async def get(
        self,
        tenant: TenantRef,
        record_id: str,
        reader: PrincipalRef,
        now: Instant,
        *,
        with_unvalidated: bool = False,
    ) -> MemoryRecord | None:
        """The record when it is visible to the reader.

        `with_unvalidated` shows, where the memory namespace enforces, also what was never validated.
        """
        ...

    async def provenances(
        self, tenant: TenantRef, record_ids: Sequence[str], reader: PrincipalRef, now: Instant
    ) -> Mapping[str, Provenance]:
        """The provenance of each of these records that is visible to the reader, by its id."""
        ...

    async def page(
        self,
        tenant: TenantRef,
        *,
        memory_namespace: str,
        reader: PrincipalRef,
        after: str,
        size: int,
        now: Instant,
        with_unvalidated: bool = False,
    ) -> Sequence[MemoryRecord]:
        """Visible records in the order of their ids after `after`; `with_unvalidated` as above."""
        ...


@dataclass(frozen=True, slots=True)
class RevokedRecord:
    """When a record was revoked first, the sequence of that, and whether it was before this call."""

    revoke_time: Instant
    sequence: int
    """Among decisions and revocations: what was decided before it stays withdrawn (semantics §8)."""
    replayed: bool


class RecordRevocations(Protocol):
    """Withdraws learned memory, for ever. Each is a withdrawal: it excludes commits and is seen by every one after."""

    async def parties_of(self, tenant: TenantRef, record_id: str) -> RecordParties | None:
        """Whose the record is, whatever became of it; None when there is none."""
        ...

    async def revoke_record(
        self, mark: RequestMark, record_id: str, note: str, traceparent: str, now: Instant
    ) -> RevokedRecord | Refusal:
        """Withdraws the content of the record from its memory namespace, and so every record there that holds it.

        Each of these is told of as revoked, once. A record that is withdrawn already answers with its first time.
        Refusals: IDEMPOTENCY_CONFLICT, NOT_FOUND.
        """
        ...


class Recall(Protocol):
    """Finds learned memory by keywords. Whatever the reader may not see is left out before anything is ranked."""

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
        """Up to `size` hits in their order after `after`, fewer where content is long, one at least where there is any.

        DEPENDENCY_UNAVAILABLE when this database lacks what `fresh` names.
        """
        ...


class Citations(Protocol):
    """Keeps who cited a record."""

    async def register(self, mark: RequestMark, citation: NewCitation) -> Citation | Refusal:
        """Keeps it for the mark's principal, or answers with what was kept of the same thing before.

        Refusals: IDEMPOTENCY_CONFLICT; NOT_FOUND when the record is not visible to the citer at `create_time`.
        """
        ...

    async def page(
        self, tenant: TenantRef, cited: Cited, *, reader: PrincipalRef, after: str, size: int
    ) -> Sequence[Citation]:
        """Citations in the order of their ids after `after`, of records whose visibility includes the reader."""
        ...


class Histories(Protocol):
    """Reads records and what they stand on, whatever became of them: who may be told is the use case's to judge."""

    async def of_record(self, tenant: TenantRef, record_id: str, reader: PrincipalRef) -> RecordHistory | None:
        """The record with its receipt and its fate, and whether its visibility includes the reader."""
        ...

    async def trail(self, tenant: TenantRef, receipt: CommitReceipt, most: int) -> AuditTrail:
        """What the commit of the receipt stood on; of approvals, revisions and citations at most so many."""
        ...
