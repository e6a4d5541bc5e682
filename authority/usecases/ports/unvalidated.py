"""Memory that is written without validation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from authority.domain.record import MemoryNamespace, MemoryRecord
from authority.domain.references import TenantRef
from authority.domain.refusal import Refusal
from authority.domain.unvalidated import Observation, UnvalidatedRecord
from authority.usecases.ports.requests import RequestMark

Observe = Callable[[MemoryNamespace, str], Observation | Refusal]
"""Finds out, by the memory namespace and its bundle's text, what would become of the write under enforcement, or says
CONTENTION when it was not prepared to. Does no I/O, for a transaction waits for it."""


@dataclass(frozen=True, slots=True)
class NewUnvalidated:
    """A record to be written, without receipt and proposal, and what its event needs."""

    record: MemoryRecord
    event_id: str
    traceparent: str


@dataclass(frozen=True, slots=True)
class WrittenUnvalidated:
    """The record as it was written first, and whether that was before this call."""

    written: UnvalidatedRecord
    replayed: bool


class UnvalidatedWrites(Protocol):
    """Writes records without validation, exactly once for each request id."""

    async def write(self, mark: RequestMark, new: NewUnvalidated, observe: Observe) -> WrittenUnvalidated | Refusal:
        """Record, event, audit event and observation in one transaction, or none; a retry gets the first answer.

        `observe` is asked where the memory namespace is observed. A caller that goes away leaves what was begun to
        finish. Refusals: IDEMPOTENCY_CONFLICT, POLICY_DENIED (privileged), REVOKED (the writer, or any tombstone of
        the content), NOT_VALIDATED (enforced), NOT_FOUND (no such memory namespace), CONTENTION (its mode changed
        meanwhile).
        """
        ...

    async def made_by(self, mark: RequestMark) -> WrittenUnvalidated | Refusal | None:
        """What this request wrote when it came before, else None. Refusals: IDEMPOTENCY_CONFLICT."""
        ...


class UnvalidatedReports(Protocol):
    """Tells operators what was written without validation."""

    async def would_refuse(
        self, tenant: TenantRef, memory_namespace: str, *, after: str, size: int
    ) -> Sequence[UnvalidatedRecord]:
        """What enforcement would have refused, in the order of the records' ids after `after`."""
        ...

    async def count(self, tenant: TenantRef, memory_namespace: str) -> "UnvalidatedCounts":
        """How many there are, whatever became of them."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class UnvalidatedCounts:
    """What was written without validation into one memory namespace, ever."""

    legacy: int
    """Of these nobody asked what would become of them."""
    observed: int
    would_refuse: int
    """Of the observed."""
