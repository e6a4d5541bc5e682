"""What one commit asks of the database, made before the call and sent unchanged however often it must be asked."""

from dataclasses import dataclass

from authority.domain.action_envelope import ActionProof
from authority.domain.capability import CommitCapability, OpenedCapability
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.statement import Statement


@dataclass(frozen=True, slots=True)
class Claim:
    """Under which name a commit is settled: one holder's key and what it was used for."""

    tenant: TenantRef
    holder: PrincipalRef
    idempotency_key: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitReceipt:
    """The payload that the receipt key signs: every bound term, and what came of them."""

    receipt_id: str
    issuer: str
    record_id: str
    capability: CommitCapability
    capability_digest: bytes
    request_fingerprint: bytes
    commit_time: Instant


@dataclass(frozen=True, slots=True)
class CommitPlan:
    """One commit for the commit function: the claim, the capability, and a refusal carried along or what to write.

    A refused plan has no receipt: nothing is signed that cannot be stored.
    """

    claim: Claim
    capability: OpenedCapability
    refusal: Refusal | None
    receipt: Statement | None
    receipt_id: str
    record_id: str
    event_id: str
    planned_time: Instant
    traceparent: str
    action_proof: ActionProof | None = None
    """What proved the holder, when that was an envelope of upstream: kept with what is written."""


@dataclass(frozen=True, slots=True)
class StoredReceipt:
    """A receipt that a transaction made durable."""

    receipt_id: str
    record_id: str
    statement: Statement
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class Committed:
    """The receipt of this claim: of this call's own success, or replayed from the first one's."""

    receipt: StoredReceipt
    replayed: bool


@dataclass(frozen=True, slots=True)
class Conflicting:
    """The key was settled for another request, whose receipt this is."""

    receipt: StoredReceipt


CommitOutcome = Committed | Conflicting | Refusal
