"""Plans that wait to be sent, taken fairly: one group of each tenant in turn."""

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from authority.domain.plan import CommitOutcome, CommitPlan

if TYPE_CHECKING:
    import asyncio

    from authority.domain.references import TenantRef


@dataclass(slots=True)
class Waiting:
    """A plan, who waits for it and until when (event loop time), and how long to pause before it is asked again."""

    plan: CommitPlan
    deadline: float
    outcome: "asyncio.Future[CommitOutcome]"
    pause: float


Group = Sequence[Waiting]
"""Plans of one tenant that go into one call, in their order: of those that contend the first wins."""


def weight_of(plan: CommitPlan) -> int:
    """About how many bytes the plan has when sent."""
    return 1_024 + (len(plan.receipt.payload) if plan.receipt else 0)


class WaitingPlans:
    """Groups in the order in which they came, tenant by tenant. The content of memory never waits here."""

    def __init__(self) -> None:
        self._groups: OrderedDict[TenantRef, deque[Group]] = OrderedDict()
        self.plans = 0
        self.weight = 0

    def put(self, group: Group) -> None:
        """The group waits behind its tenant's others."""
        self._groups.setdefault(group[0].plan.claim.tenant, deque()).append(group)
        self.plans += len(group)
        self.weight += sum(weight_of(waiting.plan) for waiting in group)

    def take(self, most: int) -> list[Waiting]:
        """Up to `most` plans for one call, though a group is never divided: one of each tenant, then the next ones."""
        taken: list[Waiting] = []
        while self._groups:
            tenant, groups = next(iter(self._groups.items()))
            if taken and len(taken) + len(groups[0]) > most:
                break
            taken.extend(groups.popleft())
            self._groups.move_to_end(tenant)
            if not groups:
                del self._groups[tenant]
        self.plans -= len(taken)
        self.weight -= sum(weight_of(waiting.plan) for waiting in taken)
        return taken
