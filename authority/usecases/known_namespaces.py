"""Tells an empty memory namespace from one that there is not (semantics §2)."""

from dataclasses import dataclass

from authority.domain.reasons import Reason
from authority.domain.references import TenantRef
from authority.domain.refusal import Refusal
from authority.usecases.paging import Item, Page
from authority.usecases.ports import MemoryNamespaces


@dataclass(frozen=True, slots=True)
class KnownNamespaces:
    """Looks only when a page is empty: what has anything on it is known."""

    namespaces: MemoryNamespaces

    async def judge(self, tenant: TenantRef, memory_namespace: str, page: Page[Item] | Refusal) -> Page[Item] | Refusal:
        """The page, or NOT_FOUND when there is nothing on it and no operator made the memory namespace."""
        if isinstance(page, Refusal) or page.items:
            return page
        known = await self.namespaces.namespace(tenant, memory_namespace)
        return page if known else Refusal(Reason.NOT_FOUND, {"field": "memory_namespace"})
