"""What waits to be sent, taken fairly: one group of each tenant in turn."""

from collections import OrderedDict, deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from authority.telemetry.spans import NO_SPAN, OpenSpan

if TYPE_CHECKING:
    import asyncio

    from authority.domain.references import TenantRef
    from authority.domain.refusal import Refusal

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an item stands while it waits.

    `tenant` is whose turn it takes, `key` what few may wait for at once (None: however many), `weight` about how many
    bytes it holds.
    """

    tenant: "TenantRef"
    key: Hashable | None
    weight: int


@dataclass(slots=True)
class Waiting(Generic[Item, Outcome]):
    """An item, who waits for it and until when (event loop time), and how long to pause before it is asked again.

    `since` is when it came, by the clock that measures durations, and `span` that of its caller's wait.
    """

    item: Item
    place: Place
    deadline: float
    outcome: "asyncio.Future[Outcome | Refusal]"
    pause: float
    since: float = 0.0
    span: OpenSpan = NO_SPAN


class FairQueue(Generic[Item, Outcome]):
    """Groups in the order in which they came, tenant by tenant.

    A group is what one caller gave together: of one tenant, for one call, in its order.
    """

    def __init__(self) -> None:
        self._groups: OrderedDict[TenantRef, deque[Sequence[Waiting[Item, Outcome]]]] = OrderedDict()
        self._items = 0

    def __len__(self) -> int:
        """How many items wait."""
        return self._items

    def put(self, group: Sequence[Waiting[Item, Outcome]]) -> None:
        """The group waits behind its tenant's others."""
        self._groups.setdefault(group[0].place.tenant, deque()).append(group)
        self._items += len(group)

    def take(self, most: int) -> list[Waiting[Item, Outcome]]:
        """Up to `most` items for one call, though a group is never divided: one of each tenant, then the next ones."""
        taken: list[Waiting[Item, Outcome]] = []
        while self._groups:
            tenant, groups = next(iter(self._groups.items()))
            if taken and len(taken) + len(groups[0]) > most:
                break
            taken.extend(groups.popleft())
            self._groups.move_to_end(tenant)
            if not groups:
                del self._groups[tenant]
        self._items -= len(taken)
        return taken
