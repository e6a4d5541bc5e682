"""Reads learned memory: evidence, never a permission (semantics §8)."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.identity import Caller, Right, require
from authority.domain.reasons import Reason
from authority.domain.record import MemoryRecord
from authority.domain.refusal import Refusal
from authority.usecases.admit import Admit
from authority.usecases.known_namespaces import KnownNamespaces
from authority.usecases.paging import Page, PageRequest, Pages
from authority.usecases.ports import Clock, Records
from authority.usecases.weights import weight_of_record


@dataclass(frozen=True, slots=True)
class GetRecord:
    """NOT_FOUND for what is absent, expired, revoked or invisible, alike."""

    admit: Admit
    records: Records
    clock: Clock

    async def __call__(
        self, caller: Caller, record_id: str, *, with_unvalidated: bool = False
    ) -> MemoryRecord | Refusal:
        """The record, with everything that says where it came from.

        `with_unvalidated` shows, where the memory namespace enforces, also what was never validated.
        """
        if refusal := await self.admit(caller) or require(caller, Right.READ):
            return refusal
        found = await self.records.get(
            caller.tenant, record_id, caller.ref, self.clock.now(), with_unvalidated=with_unvalidated
        )
        return found or Refusal(Reason.NOT_FOUND)


@dataclass(frozen=True, slots=True)
class ListRecords:
    """Visible records of one memory namespace, page by page."""

    admit: Admit
    records: Records
    known: KnownNamespaces
    pages: Pages
    clock: Clock

    async def __call__(
        self, caller: Caller, memory_namespace: str, page: PageRequest, *, with_unvalidated: bool = False
    ) -> Page[MemoryRecord] | Refusal:
        """Rights and visibility are judged anew for each page. NOT_FOUND for an unknown memory namespace."""
        if refusal := await self.admit(caller) or require(caller, Right.READ):
            return refusal

        async def fetch(after: str, size: int) -> Sequence[MemoryRecord]:
            return await self.records.page(
                caller.tenant,
                memory_namespace=memory_namespace,
                reader=caller.ref,
                after=after,
                size=size,
                now=self.clock.now(),
                with_unvalidated=with_unvalidated,
            )

        query = ("records", memory_namespace, "with unvalidated" if with_unvalidated else "")
        found = await self.pages.turn(caller, query, page, fetch, lambda record: record.record_id, weight_of_record)
        return await self.known.judge(caller.tenant, memory_namespace, found)
