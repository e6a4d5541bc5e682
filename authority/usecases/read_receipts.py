"""Reads commit receipts: the holder's own, or everyone's with the right to read."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.identity import Caller, Right
from authority.domain.plan import StoredReceipt
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.domain.statement import Statement
from authority.usecases.admit import Admit
from authority.usecases.known_namespaces import KnownNamespaces
from authority.usecases.paging import Page, PageRequest, Pages
from authority.usecases.ports import Clock, Receipts, Signer, Statements


@dataclass(frozen=True, slots=True)
class ReceiptQuery:
    """One of the three, the others empty: which receipt is meant."""

    receipt_id: str
    record_id: str
    commit_idempotency_key: str


@dataclass(frozen=True, slots=True)
class FoundReceipt:
    """The stored receipt, and what vouches for it if its key was revoked since."""

    receipt: StoredReceipt
    attestation: Statement | None


@dataclass(frozen=True, slots=True)
class GetReceipt:
    """NOT_FOUND for what is absent and for what the caller may not see, alike (case G02)."""

    admit: Admit
    statements: Statements
    signer: Signer
    receipts: Receipts
    clock: Clock

    async def __call__(self, caller: Caller, query: ReceiptQuery) -> FoundReceipt | Refusal:
        """The receipt with its exact first bytes."""
        if refusal := await self.admit(caller):
            return refusal
        found = await self._find(caller, query)
        if found is None or not (caller.principal.may(Right.READ) or self._is_held_by(found, caller)):
            return Refusal(Reason.NOT_FOUND)
        return FoundReceipt(found, self.signer.attestation(caller.tenant, found.statement, self.clock.now()))

    async def _find(self, caller: Caller, query: ReceiptQuery) -> StoredReceipt | None:
        if query.receipt_id:
            return await self.receipts.by_receipt(caller.tenant, query.receipt_id)
        if query.record_id:
            return await self.receipts.by_record(caller.tenant, query.record_id)
        return await self.receipts.by_key(caller.tenant, caller.ref, query.commit_idempotency_key)

    def _is_held_by(self, found: StoredReceipt, caller: Caller) -> bool:
        receipt = self.statements.open_receipt(found.statement)
        return not isinstance(receipt, Refusal) and receipt.capability.holder == caller.ref


@dataclass(frozen=True, slots=True)
class ListReceipts:
    """Receipts page by page."""

    admit: Admit
    receipts: Receipts
    known: KnownNamespaces
    pages: Pages

    async def __call__(self, caller: Caller, memory_namespace: str, page: PageRequest) -> Page[StoredReceipt] | Refusal:
        """Without the right to read a caller sees what it holds. NOT_FOUND for an unknown memory namespace."""
        if refusal := await self.admit(caller):
            return refusal
        holder = None if caller.principal.may(Right.READ) else caller.ref

        async def fetch(after: str, size: int) -> Sequence[StoredReceipt]:
            return await self.receipts.page(
                caller.tenant, memory_namespace=memory_namespace, holder=holder, after=after, size=size
            )

        query = ("receipts", memory_namespace)
        found = await self.pages.turn(caller, query, page, fetch, lambda receipt: receipt.receipt_id)
        return await self.known.judge(caller.tenant, memory_namespace, found)
