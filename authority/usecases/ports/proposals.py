"""Proposals, what validators said of them, and what persons decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from authority.domain.decision import Approval
from authority.domain.likeness import NO_TRAITS, Traits
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.record import MemoryNamespace
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.review import AwaitedReview
from authority.domain.statement import Statement
from authority.domain.validation import SignedValidation
from authority.usecases.ports.grants import Spend
from authority.usecases.ports.requests import RequestMark


class MemoryNamespaces(Protocol):
    """Where memory lives. Kept with the proposals, which begin there."""

    async def namespace(self, tenant: TenantRef, name: str) -> MemoryNamespace | None:
        """The memory namespace, when an operator made it."""
        ...


class Sees(Enum):
    """Whose proposals a reader sees beside its own."""

    OWN = "own"
    """No others."""
    SHOWN = "shown"
    """Those whose visibility includes it."""
    EVERY = "every"
    """All: whoever decides on them has to."""


class Proposals(MemoryNamespaces, Protocol):
    """Keeps proposals. A mark seen before with the same digest is answered with what it made then."""

    async def get(self, tenant: TenantRef, proposal_id: str, revision: int) -> StoredProposal | None:
        """The revision, the newest for 0."""
        ...

    async def create(
        self, mark: RequestMark, proposal: StoredProposal, spend: Spend | None = None
    ) -> StoredProposal | Refusal:
        """Keeps the revision when it follows the head's current one, and spends what it costs, or does neither.

        What the request id stands for already is answered with that, and spends nothing. Refusals:
        IDEMPOTENCY_CONFLICT, ALREADY_COMMITTED, NOT_VALIDATED once it was withdrawn, CONTENTION when the head moved
        meanwhile, and those of `Grants.spend`.
        """
        ...

    async def made_by(self, mark: RequestMark) -> StoredProposal | Refusal | None:
        """What this request kept when it came before, else None; IDEMPOTENCY_CONFLICT when its id was another's."""
        ...

    async def newest_validation(self, tenant: TenantRef, proposal_id: str, revision: int) -> Statement | None:
        """The newest validation receipt of the revision."""
        ...

    async def decisions_on(self, tenant: TenantRef, proposal_id: str, revision: int, most: int) -> Sequence[Approval]:
        """What was decided on the revision, in the order in which it was, the newest `most`."""
        ...

    async def page(
        self,
        tenant: TenantRef,
        *,
        memory_namespace: str,
        state: ProposalState | None,
        reader: PrincipalRef,
        sees: Sees,
        after: str,
        size: int,
        now: Instant,
    ) -> Sequence[StoredProposal]:
        """Newest revisions in the order of their ids after `after`, content left out, that the reader sees.

        `state` is that of `now`: what has expired is in no other one than EXPIRED.
        """
        ...


@dataclass(frozen=True, slots=True)
class RecordedValidation:
    """A validation as it was kept, and the state that it left the revision in."""

    signed: SignedValidation
    state: ProposalState


class Validations(Protocol):
    """Keeps what validators said."""

    async def answered(self, mark: RequestMark) -> RecordedValidation | Refusal | None:
        """What this request was answered with when it came before, else None; IDEMPOTENCY_CONFLICT for another's id."""
        ...

    async def begin(self, mark: RequestMark, proposal_id: str, revision: int, now: Instant) -> None:
        """Says of a revision that nobody has judged that validators are at it; changes nothing else."""
        ...

    async def duplicate_of(
        self,
        tenant: TenantRef,
        memory_namespace: str,
        content_digest: bytes,
        *,
        reader: PrincipalRef,
        corrects: str = "",
    ) -> str | None:
        """The living record of the memory namespace that holds exactly this content already, if the reader is shown it.

        Nobody is told what others wrote where it cannot read: validators know what the proposer may know.

        The one that is to be corrected, when given, is none: a correction may say the same of another time.
        """
        ...

    async def erase_reviewed(self, now: Instant) -> int:
        """Erases content that failed for secrets, of any tenant, once its review is over; answers how many.

        It is over when a person decided on the revision, when it was withdrawn or a newer one took its place, or
        `limits.ERASURE_DUE_MS` after it failed. Of the content its digest stays. Some are left for a next time when
        there are many.
        """
        ...

    async def keep(
        self, mark: RequestMark, signed: SignedValidation, state: ProposalState, traits: Traits = NO_TRAITS
    ) -> RecordedValidation | Refusal:
        """Keeps the receipt, and what later contents are compared with this one by, and moves the revision on.

        Refusals: IDEMPOTENCY_CONFLICT, EXPIRED, NOT_VALIDATED when a newer revision superseded it, it was withdrawn
        or a person turned it down, ALREADY_COMMITTED.
        """
        ...


@dataclass(frozen=True, slots=True)
class RecordedApproval:
    """A decision as it was kept, and the state that it left the revision in."""

    reference: str
    state: ProposalState


class Approvals(Protocol):
    """Keeps what persons decided."""

    async def decide(
        self, mark: RequestMark, approval: Approval, state: ProposalState, refusal: Refusal | None = None
    ) -> RecordedApproval | Refusal:
        """Keeps the decision on the newest validation of the revision, whatever digest `approval` names for it.

        A decision against is a withdrawal: it excludes commits and is seen by every one that follows. A `refusal`
        of the caller's own answers when the request was not answered before.
        Refusals: IDEMPOTENCY_CONFLICT, NOT_FOUND, EXPIRED, NOT_VALIDATED, ALREADY_COMMITTED.
        """
        ...

    async def claim(self, mark: RequestMark, now: Instant) -> Refusal | None:
        """Takes the request id for a request that asks for many decisions, each of which has a mark of its own.

        Asked again it answers None again; IDEMPOTENCY_CONFLICT when the id was used for another request.
        """
        ...


@dataclass(frozen=True, slots=True)
class WithdrawnProposal:
    """When a proposal was withdrawn first."""

    withdraw_time: Instant
    replayed: bool
    """Whether that was before this request."""


class ProposalWithdrawals(Protocol):
    """Withdraws proposals for ever."""

    async def withdraw(self, mark: RequestMark, proposal_id: str, now: Instant) -> WithdrawnProposal | Refusal:
        """Once it has answered, no commit that ignored it can still land, and no revision follows.

        Refusals: IDEMPOTENCY_CONFLICT, NOT_FOUND, ALREADY_COMMITTED.
        """
        ...


class Activations(Protocol):
    """Keeps what persons decide of what policy allowed without one."""

    async def adopt(
        self, mark: RequestMark, approval: Approval, refusal: Refusal | None = None
    ) -> RecordedApproval | Refusal:
        """Makes it final, and leaves the state as it is. A `refusal` answers what was not answered before.

        Refusals: IDEMPOTENCY_CONFLICT, NOT_FOUND when policy allowed nothing without a person or somebody took it back,
        NOT_VALIDATED for a revision that is superseded or turned down, REVOKED when its record was revoked.
        """
        ...

    async def take_back(
        self, mark: RequestMark, approval: Approval, traceparent: str, refusal: Refusal | None = None
    ) -> RecordedApproval | Refusal:
        """Keeps the decision against a committed revision and revokes its record, in one transaction.

        A withdrawal as RevokeRecord's: once it has answered, nobody reads the record, and nothing that was decided
        before brings its content back. Refusals: IDEMPOTENCY_CONFLICT, NOT_FOUND, REVOKED when that was done already,
        ALREADY_COMMITTED when the commit is final.
        """
        ...


class ReviewQueue(Protocol):
    """What waits for persons."""

    def position_of(self, awaited: AwaitedReview) -> str:
        """Where it stands in the order of the queue: `page` goes on after it."""
        ...

    async def page(
        self,
        tenant: TenantRef,
        *,
        memory_namespace: str,
        apart: frozenset[PrincipalRef],
        after: str,
        size: int,
        now: Instant,
    ) -> Sequence[AwaitedReview]:
        """The oldest first after the position, content left out; without those that anyone of `apart` had a part in.

        Current, unexpired revisions that policy asked persons for, on the newest validation, and has not allowed since,
        or that it was not asked about yet while validators were not sure; and fewer persons approve than are needed.
        """
        ...
