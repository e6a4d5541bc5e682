"""What the use cases need of the world. Each port has one contract suite, run on every adapter."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from authority.domain.audit import AuditFilter, ToldEvent
from authority.domain.capability import CommitCapability, OpenedCapability, Presentation
from authority.domain.citation import Citation, Cited, NewCitation
from authority.domain.decision import (
    Approval,
    DecisionFacts,
    DecisionReceipt,
    PolicyAnswer,
    PolicyQuestion,
    SignedDecision,
)
from authority.domain.freshness import Freshness
from authority.domain.history import AuditTrail, RecordHistory
from authority.domain.identity import Principal, RegisteredKey
from authority.domain.invocation import Invocation
from authority.domain.issuing import IssuingFacts, IssuingQuestion
from authority.domain.plan import Claim, CommitOutcome, CommitPlan, CommitReceipt, StoredReceipt
from authority.domain.proposal import ProposalRevision, ProposalState, StoredProposal
from authority.domain.recall import RecallAnswer, RecallPosition, RecallQuery
from authority.domain.record import MemoryNamespace, MemoryRecord, RecordParties
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.revocation import FeedEnd, FeedItem
from authority.domain.statement import IssuerKey, KeyPurpose, Statement
from authority.domain.tally import Counted
from authority.domain.validation import SignedValidation, ValidationReceipt


class DependencyUnavailable(Exception):
    """A fault, not a refusal: PostgreSQL is away, or what it answered is lost. The same call may be made again."""


class Overloaded(DependencyUnavailable):
    """A fault, not a refusal: too much waits for PostgreSQL already. The same call may be made again, later."""


class Contention(Exception):
    """A fault, not a refusal: concurrent changes kept colliding. The same call may be made again."""


class Clock(Protocol):
    """The time. Injected everywhere, so that tests set it."""

    def now(self) -> Instant:
        """The present instant."""
        ...


class Identifiers(Protocol):
    """New ids."""

    def new(self) -> str:
        """A fresh UUID in lowercase text, never returned before."""
        ...


# --- statements ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OpenedInvocation:
    """An Invocation that obeys the reading rule; `statement.signature` is not verified yet."""

    statement: Statement
    invocation: Invocation


class Statements(Protocol):
    """Reads statements by the one reading rule and reckons their digests (semantics §3).

    Opening never verifies and answers MALFORMED for what breaks the rule; `judge_signature` never reads.
    """

    def open_capability(self, statement: Statement) -> OpenedCapability | Refusal:
        """The capability's terms, or MALFORMED."""
        ...

    def open_validation(self, statement: Statement) -> SignedValidation | Refusal:
        """The validation receipt, or MALFORMED."""
        ...

    def open_decision(self, statement: Statement) -> SignedDecision | Refusal:
        """The decision receipt, or MALFORMED."""
        ...

    def open_receipt(self, statement: Statement) -> CommitReceipt | Refusal:
        """The commit receipt, or MALFORMED."""
        ...

    def open_invocation(self, proof: bytes) -> OpenedInvocation | None:
        """The Invocation in a metadata entry, or None when it is none."""
        ...

    def judge_signature(
        self, statement: Statement, purpose: KeyPurpose, tenant: TenantRef, memory_namespace: str
    ) -> Refusal | None:
        """ISSUER_UNKNOWN, KEY_REVOKED or SIGNATURE_INVALID; None when an issuer key of the purpose and scope signed."""
        ...

    def is_signed_by(self, statement: Statement, public_key: bytes) -> bool:
        """Whether exactly this key signed the statement."""
        ...

    def proposal_digest(self, revision: ProposalRevision) -> bytes:
        """The statement digest of the revision's frozen payload."""
        ...

    def fingerprint(self, terms: CommitCapability, presentation: Presentation) -> bytes:
        """The request fingerprint (semantics §4)."""
        ...

    def proposal_payload(self, revision: ProposalRevision) -> tuple[str, bytes]:
        """The payload type and the payload bytes that the proposal digest is reckoned over."""
        ...

    def digest(self, statement: Statement) -> bytes:
        """The statement digest: over its type and payload, never over its signature (semantics §3)."""
        ...

    def content_digest(self, content: bytes) -> bytes:
        """SHA-256 over the exact bytes."""
        ...

    async def content_problem(self, content: bytes, media_type: str) -> str | None:
        """Why the content's form is refused (JSON must be RFC 8785 canonical, text UTF-8 without NUL), or None."""
        ...


class NoSigningKey(DependencyUnavailable):
    """No active key of the purpose covers what is to be signed, or its private key cannot be used here; says which."""


class Signer(Protocol):
    """Signs with the active key of the one purpose. Raises NoSigningKey when there is none."""

    def sign_capability(self, terms: CommitCapability) -> OpenedCapability:
        """The capability's statement."""
        ...

    def sign_validation(self, receipt: ValidationReceipt) -> SignedValidation:
        """The validation receipt's statement."""
        ...

    def sign_decision(self, receipt: DecisionReceipt) -> SignedDecision:
        """The decision receipt's statement."""
        ...

    def sign_receipt(self, receipt: CommitReceipt) -> Statement:
        """The commit receipt's statement."""
        ...

    def sign_revocation(self, tenant: TenantRef, item: FeedItem) -> Statement:
        """The statement of an item in the feed of the tenant: the same bytes whenever and wherever it is signed."""
        ...

    def sign_heartbeat(self, end: FeedEnd) -> Statement:
        """The statement that says how far the feed goes."""
        ...

    def attestation(self, tenant: TenantRef, statement: Statement, now: Instant) -> Statement | None:
        """A KeyAttestation when the key that signed the statement was revoked since, else None."""
        ...


class KeySet(Protocol):
    """The issuer keys as this process knows them, at most seconds old."""

    def published(self) -> tuple[IssuerKey, ...]:
        """Every key of the authority, revoked ones too."""
        ...

    def accepted_payload_types(self) -> tuple[str, ...]:
        """The payload types that this authority reads."""
        ...


class PageTokens(Protocol):
    """Page tokens are sealed, expire, and are bound to tenant, caller and query (semantics §8)."""

    def seal(self, binding: str, position: str, now: Instant) -> str:
        """A token that only the same binding opens within its life."""
        ...

    def open(self, binding: str, token: str, now: Instant) -> str | Refusal:
        """The position, or MALFORMED for a token that is foreign, stale or made up."""
        ...


class RevisionTokens(Protocol):
    """Revision tokens are sealed, bound to a tenant, and do not expire (semantics §8)."""

    def seal(self, tenant: TenantRef, freshness: Freshness) -> str:
        """A token of at most 512 characters that only a call of the tenant opens."""
        ...

    def open(self, tenant: TenantRef, token: str) -> Freshness | Refusal:
        """What it stands for, or MALFORMED `at_least_as_fresh_as` for one that is foreign or made up."""
        ...


# --- identity --------------------------------------------------------------------------------------------------------


class Registry(Protocol):
    """Registered principals and keys, read live."""

    async def active_key(self, tenant: TenantRef, principal: PrincipalRef, key_id: str) -> RegisteredKey | None:
        """The key when it, and its principal, are active; else None. Read after it was asked, never remembered."""
        ...

    async def principal(self, tenant: TenantRef, principal: PrincipalRef) -> Principal | None:
        """The principal when it is active; else None."""
        ...


class Nonces(Protocol):
    """Remembers the proofs of reads for as long as they are fresh."""

    async def use(self, key_id: str, nonce: bytes) -> Refusal | None:
        """None for the first use; PROOF_REPLAYED for another; DEPENDENCY_UNAVAILABLE when that cannot be known."""
        ...


class StreamNonces(Protocol):
    """Remembers the proofs that opened streams, durably: whatever becomes of Redis, each opens one (case I04)."""

    async def use(self, tenant: TenantRef, key_id: str, nonce: bytes) -> Refusal | None:
        """None for the first use; PROOF_REPLAYED for another, for as long as the proof can be fresh anywhere."""
        ...


# --- proposals -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RequestMark:
    """A mutation's request id and what it was used for; reused for another request it is IDEMPOTENCY_CONFLICT."""

    tenant: TenantRef
    principal: PrincipalRef
    request_id: str
    digest: bytes
    trace_id: str = field(default="", compare=False)
    """Of the call, for what is told of the change: 32 hex digits, or empty. A retry may have another."""


class Proposals(Protocol):
    """Keeps proposals. A mark seen before with the same digest is answered with what it made then."""

    async def namespace(self, tenant: TenantRef, name: str) -> MemoryNamespace | None:
        """The memory namespace, when an operator made it."""
        ...

    async def get(self, tenant: TenantRef, proposal_id: str, revision: int) -> StoredProposal | None:
        """The revision, the newest for 0."""
        ...

    async def create(self, mark: RequestMark, proposal: StoredProposal) -> StoredProposal | Refusal:
        """Keeps the revision when it follows the head's current one.

        Refusals: IDEMPOTENCY_CONFLICT, ALREADY_COMMITTED, CONTENTION when the head moved meanwhile.
        """
        ...

    async def made_by(self, mark: RequestMark) -> StoredProposal | Refusal | None:
        """What this request kept when it came before, else None; IDEMPOTENCY_CONFLICT when its id was another's."""
        ...

    async def newest_validation(self, tenant: TenantRef, proposal_id: str, revision: int) -> Statement | None:
        """The newest validation receipt of the revision."""
        ...

    async def page(
        self,
        tenant: TenantRef,
        *,
        memory_namespace: str,
        state: ProposalState | None,
        proposer: PrincipalRef | None,
        after: str,
        size: int,
    ) -> Sequence[StoredProposal]:
        """Newest revisions in the order of their ids after `after`, content left out; `proposer` None is everyone's."""
        ...


@dataclass(frozen=True, slots=True)
class RecordedValidation:
    """A validation as it was kept, and the state that it left the revision in."""

    signed: SignedValidation
    state: ProposalState


class Validations(Protocol):
    """Keeps what validators said."""

    async def duplicate_of(
        self, tenant: TenantRef, memory_namespace: str, content_digest: bytes, corrects: str = ""
    ) -> str | None:
        """The living record of the memory namespace that holds exactly this content already.

        The one that is to be corrected, when given, is none: a correction may say the same of another time.
        """
        ...

    async def keep(
        self, mark: RequestMark, signed: SignedValidation, state: ProposalState
    ) -> RecordedValidation | Refusal:
        """Keeps the receipt and moves the revision on.

        Refusals: IDEMPOTENCY_CONFLICT, NOT_VALIDATED when a newer revision superseded it, ALREADY_COMMITTED.
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
        Refusals: IDEMPOTENCY_CONFLICT, NOT_FOUND, NOT_VALIDATED, ALREADY_COMMITTED.
        """
        ...


# --- policy ----------------------------------------------------------------------------------------------------------


Decide = Callable[[DecisionFacts, int], SignedDecision | Refusal]
"""Judges the facts and signs the decision under the drawn sequence; does no I/O, for a transaction waits for it."""


class Decisions(Protocol):
    """Keeps what policy decided."""

    async def decide(
        self, mark: RequestMark, proposal_id: str, revision: int, holder: PrincipalRef, decide: Decide
    ) -> SignedDecision | Refusal:
        """Draws a sequence, reads the facts, has them decided and keeps the answer, in one transaction.

        Refusals: IDEMPOTENCY_CONFLICT, NOT_FOUND, and whatever `decide` refuses.
        """
        ...


class PolicyEngine(Protocol):
    """Evaluates a policy bundle. Pure: the receipt of the decision is ours."""

    def evaluate(self, bundle: str, question: PolicyQuestion) -> PolicyAnswer:
        """Deny beats require_approval beats allow; unmatched, and any evaluation error, is deny."""
        ...


# --- capabilities ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Offer:
    """What one request for a capability asks of the store, sent unchanged however often it must be asked.

    `offered` is signed already, or the refusal that rides along: what the commit key stands for answers before it.
    """

    mark: RequestMark
    claim: Claim
    offered: OpenedCapability | Refusal


@dataclass(frozen=True, slots=True)
class IssuedCapability:
    """A live capability, new or found."""

    capability: OpenedCapability
    replayed: bool


@dataclass(frozen=True, slots=True)
class CapabilityFate:
    """Whose a capability is and what became of it: neither consumed nor revoked, it may have expired."""

    holder: PrincipalRef
    receipt_id: str | None
    """Of the commit that consumed it."""
    is_revoked: bool


class Capabilities(Protocol):
    """Keeps issued capabilities. `deadline` is event loop time in seconds; each call is about one tenant."""

    async def issuing_facts(
        self, questions: Sequence[IssuingQuestion], deadline: float
    ) -> list[IssuingFacts | Refusal | Exception]:
        """The facts of each, in order, or a refusal: NOT_FOUND for a revision that there is not.

        Also OVERLOADED and DEPENDENCY_UNAVAILABLE. A defect of ours that one of them meets stands in its place.
        """
        ...

    async def issue(self, offers: Sequence[Offer], deadline: float) -> list[IssuedCapability | Refusal | Exception]:
        """Keeps each offered capability, or answers with what its commit key already stands for.

        One outcome each, in order, as if one were asked after the other. In order: IDEMPOTENCY_CONFLICT (request id or
        commit key used for another request), ALREADY_COMMITTED with the receipt's id, the live capability of the same
        claim, the higher of the offered refusal and REVOKED (the request id was used before, and a capability of the
        key was revoked), ALREADY_COMMITTED by another key, the offered capability. A refused offer uses nothing up.

        Once sent an offer is never cancelled. Also IN_PROGRESS, CONTENTION, OVERLOADED and DEPENDENCY_UNAVAILABLE. A
        defect of ours that one of them meets stands in its place.
        """
        ...

    async def fate_of(self, tenant: TenantRef, capability_id: str) -> CapabilityFate | None:
        """What became of the capability; None when there is none."""
        ...


@dataclass(frozen=True, slots=True)
class RevokedCapability:
    """When a capability was revoked first, and whether that was before this call."""

    revoke_time: Instant
    replayed: bool


class Revocations(Protocol):
    """Withdraws what was issued, for ever. Each is a withdrawal: it excludes commits and is seen by every one after."""

    async def revoke_capability(
        self, mark: RequestMark, capability_id: str, now: Instant
    ) -> RevokedCapability | Refusal:
        """Revokes a capability that is issued or expired; one that is revoked already answers with its first time.

        Refusals: IDEMPOTENCY_CONFLICT, NOT_FOUND, ALREADY_COMMITTED with the receipt's id.
        """
        ...


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


@dataclass(frozen=True, slots=True)
class AuditNews:
    """What became visible since a position, and the position after it."""

    events: Sequence[ToldEvent]
    position: str
    has_more: bool
    """Whether more was visible than was asked for: the position is in the midst of it."""


class AuditLog(Protocol):
    """Reads the audit log of one tenant. Positions are texts that only the store understands, `""` is the beginning."""

    async def page(
        self, tenant: TenantRef, wanted: AuditFilter, *, oldest_first: bool, after: str, size: int
    ) -> Sequence[ToldEvent]:
        """Events by their ids, rising or falling, after the id in `after` (empty for the first page).

        An event that becomes visible while pages are turned may have a smaller id than those that were shown.
        """
        ...

    async def now(self, tenant: TenantRef) -> str:
        """The position after everything that is visible now."""
        ...

    async def news(self, tenant: TenantRef, wanted: AuditFilter, after: str, size: int) -> AuditNews | Refusal:
        """At most `size` events that became visible after the position: each once, whatever commits meanwhile.

        MALFORMED `cursor` for a position of another database, or of this one before it was restored or failed over.
        """
        ...

    async def changed(self, tenants: Sequence[TenantRef], since: str) -> tuple[frozenset[TenantRef], str]:
        """Which of the tenants have events that were not visible at `since`, and what to ask with next.

        All of them for an empty `since`. One cheap question, whatever the number of tenants and of those who watch.
        """
        ...


class Cursors(Protocol):
    """Positions of watches, sealed: opaque to callers, bound to tenant, caller and query, for ever (semantics §8)."""

    def seal(self, binding: str, position: str) -> str:
        """A cursor that only the same binding opens."""
        ...

    def open(self, binding: str, cursor: str) -> str | Refusal:
        """The position, or MALFORMED `cursor` for what is foreign or made up."""
        ...


@dataclass(frozen=True, slots=True)
class FeedNews:
    """Items of a feed after a place, in its order; `has_more` when more were there than were asked for."""

    items: Sequence[FeedItem]
    has_more: bool


class RevocationFeed(Protocol):
    """Reads what was withdrawn in a tenant, and in all of them: whoever has seen an item has seen all before it."""

    async def news(self, tenant: TenantRef, after: int, size: int) -> FeedNews | Refusal:
        """At most `size` items whose sequence is greater than `after`.

        MALFORMED `cursor` for one ahead of the feed: the database was put back to an earlier moment.
        """
        ...


class RefusalCounts(Protocol):
    """Keeps how often callers were refused or answered again (semantics §9)."""

    async def add(self, counts: Mapping[Counted, int]) -> None:
        """Adds to what is counted already; what is older than a quarter of a year is forgotten in time."""
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


class Records(Protocol):
    """Reads learned memory. What is expired, revoked or outside its validity is absent."""

    async def get(self, tenant: TenantRef, record_id: str, reader: PrincipalRef, now: Instant) -> MemoryRecord | None:
        """The record when it is visible to the reader."""
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
    ) -> Sequence[MemoryRecord]:
        """Visible records in the order of their ids after `after`."""
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

    async def of_record(self, tenant: TenantRef, record_id: str) -> RecordHistory | None:
        """The record with its receipt and its fate."""
        ...

    async def trail(self, tenant: TenantRef, receipt: CommitReceipt, most: int) -> AuditTrail:
        """What the commit of the receipt stood on; of approvals, revisions and citations at most so many."""
        ...
