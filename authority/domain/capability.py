"""The commit capability: what it binds and what is presented with it (semantics §4)."""

from dataclasses import dataclass

from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.statement import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitCapability:
    """The terms in the order of the payload's fields; their names are the `term` of a BINDING_MISMATCH."""

    capability_id: str
    issuer: str
    audience: str
    tenant: TenantRef
    memory_namespace: str
    subject: PrincipalRef
    holder: PrincipalRef
    holder_key: bytes
    action: str
    proposal_id: str
    proposal_revision: int
    proposal_digest: bytes
    content_digest: bytes
    media_type: str
    evidence_digests: tuple[bytes, ...]
    validator_profile: str
    validator_profile_version: str
    validation_receipt_digest: bytes
    policy_version: bytes
    decision_receipt_digest: bytes
    approval_reference: str
    commit_idempotency_key: str
    not_before_time: Instant
    expire_time: Instant
    max_uses: int
    correlation_id: str
    grant_digest: bytes


@dataclass(frozen=True, slots=True)
class OpenedCapability:
    """A capability whose payload obeys the reading rule. Its signature is judged apart: reading is not believing."""

    statement: Statement
    digest: bytes
    terms: CommitCapability


@dataclass(frozen=True, slots=True)
class Presentation:
    """What the holder presents: the exact content and the terms it claims for it."""

    content: bytes
    content_digest: bytes
    media_type: str
    evidence_digests: tuple[bytes, ...]
    commit_idempotency_key: str


FINGERPRINTED = (
    "tenant",
    "memory_namespace",
    "holder",
    "audience",
    "proposal_id",
    "proposal_revision",
    "proposal_digest",
    "content_digest",
    "media_type",
    "evidence_digests",
    "validator_profile",
    "validator_profile_version",
)
"""The terms inside the request fingerprint; a renewed decision or a re-issued capability leaves it unchanged."""

_PRESENTED = frozenset({"content_digest", "media_type", "evidence_digests"})


def differing_terms(stored: CommitCapability, terms: CommitCapability, presentation: Presentation) -> str:
    """The fingerprinted terms in which a request differs from the one settled under its key: sorted, comma-joined."""
    presented = {name: getattr(presentation if name in _PRESENTED else terms, name) for name in FINGERPRINTED}
    return ",".join(sorted(name for name, value in presented.items() if value != getattr(stored, name)))
