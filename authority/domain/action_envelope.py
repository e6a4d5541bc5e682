"""A signed envelope of upstream as the proof of a commit: what it must name, and what is kept of it (semantics §5)."""

from dataclasses import dataclass
from typing import Final

from authority.domain import limits
from authority.domain.capability import CommitCapability
from authority.domain.reasons import Reason
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal


@dataclass(frozen=True, slots=True)
class ActionParty:
    """Whom an envelope is about, or who acts: by upstream's rules for ids, and known to nobody here."""

    namespace: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionEnvelope:
    """What an envelope says whose structure upstream would take; what it leaves out is empty."""

    audience: str
    tenant: TenantRef
    action: str
    resource_refs: tuple[str, ...]
    request_digest: str
    content_digest: str
    idempotency_key: str
    policy_receipt_id: str
    capability_id: str
    validation_receipt_id: str
    subject: ActionParty
    actor: ActionParty | None
    occur_time: Instant
    expire_time: Instant | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedEnvelope:
    """A signed envelope that was read. Its signature is judged apart: reading is not believing."""

    presented: bytes
    """The JSON text, byte for byte as it came."""
    says: ActionEnvelope
    key_name: str
    """What it calls the key that signed it: a thumbprint, or a name that an operator gave."""
    canonical: bytes
    """The RFC 8785 form of the envelope, which is what is signed."""
    digest: bytes
    """SHA-256 of that."""
    signature: bytes


@dataclass(frozen=True, slots=True)
class ActionProof:
    """An envelope that proves a commit, and the key that signed it: kept with what was committed."""

    envelope: OpenedEnvelope
    key_id: str
    """The key's thumbprint."""


@dataclass(frozen=True, slots=True)
class KeptEnvelope:
    """What is told of an envelope that proved a commit."""

    presented: bytes
    digest: bytes
    key_id: str


def unproven(condition: str, issue: str = "") -> Refusal:
    """PROOF_INVALID: the condition of an envelope that does not hold; `issue` says where its structure is wrong."""
    facts = {"proof": condition} | ({"issue": issue} if issue else {})
    return Refusal(Reason.PROOF_INVALID, facts)


NOT_BY_HOLDER: Final = unproven("signature")
"""By no active key of the holder that is called so, whichever of all that it is."""


def judge_envelope(
    envelope: ActionEnvelope, terms: CommitCapability, fingerprint: bytes, now: Instant
) -> Refusal | None:
    """PROOF_INVALID with the first condition that does not hold; None when the envelope is for exactly this commit.

    Digests that the capability binds as bytes the envelope names as text, "sha256:…".
    """
    age = now - envelope.occur_time
    holds = {
        "audience": envelope.audience == terms.audience,
        "tenant_ref": envelope.tenant == terms.tenant,
        "occurred_at": -limits.NOT_BEFORE_SKEW_MS <= age <= limits.MUTATION_FRESH_MS,
        "expires_at": envelope.expire_time is not None and now < envelope.expire_time,
        "action": envelope.action == terms.action,
        "capability_id": envelope.capability_id == terms.capability_id,
        "resource_refs": envelope.resource_refs == (terms.memory_namespace,),
        "content_digest": envelope.content_digest == _wire(terms.content_digest),
        "idempotency_key": envelope.idempotency_key == terms.commit_idempotency_key,
        "request_digest": envelope.request_digest == _wire(fingerprint),
        "policy_receipt_id": envelope.policy_receipt_id == _wire(terms.decision_receipt_digest),
        "validation_receipt_id": envelope.validation_receipt_id == _wire(terms.validation_receipt_digest),
    }
    broken = next((condition for condition, is_kept in holds.items() if not is_kept), None)
    return unproven(broken) if broken else None


def _wire(digest: bytes) -> str:
    return f"sha256:{digest.hex()}"
