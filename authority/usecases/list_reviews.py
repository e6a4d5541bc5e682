"""The queue of what waits for persons (semantics §7)."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.identity import Caller, PrincipalKind, Right, require
from authority.domain.refusal import Refusal
from authority.domain.review import AwaitedReview
from authority.usecases.admit import Admit
from authority.usecases.known_namespaces import KnownNamespaces
from authority.usecases.paging import Page, PageRequest, Pages
from authority.usecases.ports import Clock, Persons, ReviewQueue
from authority.usecases.weights import weight_of_proposal

_FINDING_BYTES = 1024
"""Of a finding with its reason, and of the name of a policy, at most, when sent."""


@dataclass(frozen=True, slots=True)
class ListReviews:
    """Exceptions, the oldest first: what validators or policy leave to persons, and fewer approved than are wanted."""

    admit: Admit
    queue: ReviewQueue
    persons: Persons
    known: KnownNamespaces
    pages: Pages
    clock: Clock

    async def __call__(self, caller: Caller, memory_namespace: str, page: PageRequest) -> Page[AwaitedReview] | Refusal:
        """A page. An admin sees all of it, another who decides what is not their own matter.

        Refusals: NOT_ALLOWED for whoever may not decide, NOT_FOUND for an unknown memory namespace, MALFORMED for a
        page token of another tenant, caller or query.
        """
        if refusal := await self.admit(caller):
            return refusal
        is_admin = caller.principal.kind is PrincipalKind.ADMIN
        if refusal := None if is_admin else require(caller, Right.DECIDE):
            return refusal
        apart = frozenset() if is_admin else await self.persons.same_person(caller.tenant, caller.ref)
        now = self.clock.now()

        async def fetch(after: str, size: int) -> Sequence[AwaitedReview]:
            return await self.queue.page(
                caller.tenant, memory_namespace=memory_namespace, apart=apart, after=after, size=size, now=now
            )

        found = await self.pages.turn(
            caller, ("reviews", memory_namespace), page, fetch, self.queue.position_of, _weight_of
        )
        return await self.known.judge(caller.tenant, memory_namespace, found)


def _weight_of(awaited: AwaitedReview) -> int:
    told = len(awaited.findings) + len(awaited.asking_policies)
    return weight_of_proposal(awaited.proposal) + told * _FINDING_BYTES
