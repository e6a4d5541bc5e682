"""Evidence that proposals name by digest: kept here, or referred to and never fetched (semantics §7, data.md)."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum

from authority.domain.audit import AuditEvent
from authority.domain.identity import Principal, PrincipalKind, Right
from authority.domain.proposal import Visibility
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.statement import Statement


class EvidenceState(Enum):
    """What a person said of it; once said it stays so."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"

    @property
    def verb(self) -> str:
        """How the audit log names the act that leaves it in this state."""
        return {"pending": "put", "approved": "approve", "rejected": "reject"}[self.value]


@dataclass(frozen=True, slots=True)
class EvidenceClaim:
    """The payload by which a principal vouches, with its proof key, that it made exactly these bytes."""

    tenant: TenantRef
    signer: PrincipalRef
    content_digest: bytes
    media_type: str
    create_time: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One piece of evidence of a tenant; its digest stands for exactly these bytes and for no others.

    Either `content` is kept here, or `reference` is the URI of where it is kept; the other one is None.
    """

    tenant: TenantRef
    digest: bytes
    media_type: str
    content: bytes | None
    reference: str | None
    put_by: PrincipalRef
    visibility: Visibility
    visibility_scope: str
    """Id of the channel or team that may see it; empty for private and workspace."""
    signed_by: PrincipalRef | None
    """Who vouched for it by `statement`, checked when it was put."""
    statement: Statement | None
    put_time: Instant
    state: EvidenceState = EvidenceState.PENDING
    decided_by: PrincipalRef | None = None
    decide_time: Instant | None = None
    note: str = ""

    def says_what(self, other: "Evidence") -> bool:
        """Whether it is the same put of the same principal: what was decided and when it came is not looked at."""
        return _said(self) == _said(other)


@dataclass(frozen=True, slots=True)
class ResolvedEvidence:
    """What a digest stands for, to a reader who may know of it. Whatever is absent or invisible has none, alike."""

    digest: bytes
    state: EvidenceState
    is_kept: bool
    """Whether its bytes are kept here; else they are referred to."""
    put_by: PrincipalRef
    signed_by: PrincipalRef | None


def may_read_evidence(reader: Principal, evidence: Evidence) -> bool:
    """Whether the reader may read visible evidence: its own; whoever may decide all of it; readers what was approved.

    "Resolving approved evidence" is all that reading evidence means (ADR-328, closed vocabulary).
    """
    if evidence.put_by == reader.ref or reader.kind is PrincipalKind.ADMIN or reader.may(Right.DECIDE):
        return True
    return evidence.state is EvidenceState.APPROVED and reader.may(Right.READ)


def vouches_for(tool: PrincipalRef, wanted: Collection[bytes], resolved: Iterable[ResolvedEvidence]) -> bool:
    """Whether signed evidence of the tool resolves: it names some, all of it is approved, and it signed one (§7)."""
    found = {it.digest: it for it in resolved}
    every = [found.get(digest) for digest in wanted]
    approved = all(it is not None and it.state is EvidenceState.APPROVED for it in every)
    return approved and any(it is not None and it.signed_by == tool for it in every)


def evidence_event(evidence: Evidence, trace_id: str = "") -> AuditEvent:
    """What the audit log tells of the act that left it as it is: that it was put, or what was decided on it."""
    is_new = evidence.state is EvidenceState.PENDING
    return AuditEvent(
        tenant=evidence.tenant,
        kind=f"evidence.{evidence.state.verb}",
        actor=evidence.decided_by or evidence.put_by,
        subject=f"sha256:{evidence.digest.hex()}",
        previous_state="" if is_new else EvidenceState.PENDING.value,
        next_state=evidence.state.value,
        time=evidence.put_time if evidence.decide_time is None else evidence.decide_time,
        trace_id=trace_id,
    )


def _said(evidence: Evidence) -> tuple[object, ...]:
    return (
        evidence.tenant,
        evidence.digest,
        evidence.media_type,
        evidence.reference,
        evidence.put_by,
        evidence.visibility,
        evidence.visibility_scope,
        evidence.signed_by,
    )
