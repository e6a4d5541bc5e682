"""Where commits are decided, what hastens them, and the receipts they leave."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from authority.domain.plan import Claim, CommitOutcome, CommitPlan, StoredReceipt
from authority.domain.references import PrincipalRef, TenantRef


class Committer(Protocol):
    """Carries plans to the one function that decides."""

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        """The plan's outcome. `deadline` is event loop time in seconds.

        Once sent a plan is never cancelled: a caller that goes away leaves it to finish. Refusals beside the carried
        one: IN_PROGRESS, DEPENDENCY_UNAVAILABLE, OVERLOADED, and those of live state (semantics §5).
        """
        ...

    async def commit_together(self, plans: Sequence[CommitPlan], deadline: float) -> list[CommitOutcome | Exception]:
        """One outcome each, in order, for plans of one tenant, at most 512: of those that contend the first wins.

        A defect of ours that one of them meets stands in its place.
        """
        ...


@dataclass(frozen=True, slots=True)
class DatabaseGeneration:
    """Which database answers. Both are 1 to 64 of `A-Z a-z 0-9 . _ -`.

    `cluster` is the same in every copy of a database; `incarnation` is another for each that was ever started, and for
    each timeline: what was cached of one is not met by those that take its place (case A17).
    """

    cluster: str
    incarnation: str


@dataclass(frozen=True, slots=True)
class Sighting:
    """What the lease store surely saw of a claim's key. Both None: not seen yet, or not known."""

    running_fingerprint: bytes | None
    settled: StoredReceipt | None


class Leases(Protocol):
    """Hastens commits and never decides one. Every wait is bounded; being away is answered as "not seen".

    What is told (`take`, `settle`) is not waited for: it is seen by whatever this process asks afterwards, and by other
    processes once it is `heard`.
    """

    async def sight(self, claim: Claim) -> Sighting:
        """What is known of the claim's key."""
        ...

    def take(self, claim: Claim, token: str) -> None:
        """Marks the claim as running for a few seconds, unless another holds its key."""
        ...

    def settle(self, claim: Claim, token: str, receipt: StoredReceipt | None) -> None:
        """Remembers the receipt, when there is one, and gives the lease back if it is still ours."""
        ...

    async def heard(self) -> None:
        """Waits until other processes see what was told last, or it is given up."""
        ...


class Receipts(Protocol):
    """Reads what was committed."""

    async def by_receipt(self, tenant: TenantRef, receipt_id: str) -> StoredReceipt | None:
        """The receipt with this id."""
        ...

    async def by_record(self, tenant: TenantRef, record_id: str) -> StoredReceipt | None:
        """The receipt of this record."""
        ...

    async def by_key(self, tenant: TenantRef, holder: PrincipalRef, idempotency_key: str) -> StoredReceipt | None:
        """The receipt settled under the holder's key."""
        ...

    async def page(
        self, tenant: TenantRef, *, memory_namespace: str, holder: PrincipalRef | None, after: str, size: int
    ) -> Sequence[StoredReceipt]:
        """Receipts in the order of their ids after `after`; `holder` None is everyone's."""
        ...
