"""What a verified envelope says, and what is said of one that is refused."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "ActionEnvelope",
    "ActionEnvelopeRefused",
    "ActionRef",
    "AuthoritativeSource",
    "Denial",
    "Issue",
    "IssueCode",
    "SignedActionEnvelope",
]


class IssueCode(StrEnum):
    """What can be wrong with one field."""

    INVALID_TYPE = "invalid_type"
    MISSING = "missing"
    UNKNOWN_FIELD = "unknown_field"
    UNSUPPORTED_VALUE = "unsupported_value"
    INVALID_FORMAT = "invalid_format"
    INVALID_AUTHORITY = "invalid_authority"
    IDENTITY_NAMESPACE_REQUIRED = "identity_namespace_required"
    TENANT_MISMATCH = "tenant_mismatch"
    PRIVACY_CEILING_EXCEEDED = "privacy_ceiling_exceeded"


class Denial(StrEnum):
    """Why an envelope is denied, in the order in which it is judged (but for `VERIFICATION_ERROR`)."""

    MALFORMED_SIGNED_ENVELOPE = "malformed_signed_envelope"
    INVALID_ENVELOPE = "invalid_envelope"
    AUDIENCE_MISMATCH = "audience_mismatch"
    TENANT_MISMATCH = "tenant_mismatch"
    NOT_YET_VALID = "not_yet_valid"
    STALE = "stale"
    EXPIRED = "expired"
    SIGNATURE_CONFIGURATION_MISSING = "signature_configuration_missing"
    KEY_NOT_FOUND = "key_not_found"
    SIGNATURE_INVALID = "signature_invalid"
    POLICY_DENIED = "policy_denied"
    CAPABILITY_DENIED = "capability_denied"
    REPLAY_DETECTED = "replay_detected"
    IDEMPOTENCY_CONFLICT = "idempotency_conflict"
    VERIFICATION_ERROR = "verification_error"


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that is wrong: where, as `$.a.b[1]`, and what."""

    path: str
    code: IssueCode


@dataclass(frozen=True, slots=True)
class ActionEnvelopeRefused:
    """An envelope that proves nothing."""

    code: Denial
    issues: tuple[Issue, ...] = ()
    """Of `MALFORMED_SIGNED_ENVELOPE` and `INVALID_ENVELOPE`, in the order in which they were found."""


@dataclass(frozen=True, slots=True)
class ActionRef:
    """A tenant, or who acts: `{namespace, id}` by upstream's rules. Equal ids in two namespaces are never the same."""

    namespace: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthoritativeSource:
    """Where the outcome of the action is anchored."""

    authority: str
    tenant: ActionRef
    source_type: str
    source_id: str
    source_version: str
    source_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionEnvelope:
    """An envelope whose structure is right. Times are milliseconds since 1970; what is absent is None."""

    event_id: str
    issuer: str
    audience: str
    subject: ActionRef
    actor: ActionRef | None
    tenant: ActionRef
    action: str
    resource_refs: tuple[str, ...]
    request_digest: str | None
    content_digest: str | None
    idempotency_key: str | None
    correlation_id: str
    causation_id: str | None
    source: AuthoritativeSource
    sequence: str | None
    policy_receipt_id: str
    capability_id: str | None
    validation_receipt_id: str | None
    occurred_ms: int
    expires_ms: int | None
    privacy_class: str


@dataclass(frozen=True, slots=True)
class SignedActionEnvelope:
    """An envelope and who is said to have signed it; the signature is not verified yet."""

    envelope: ActionEnvelope
    canonical: bytes | None
    """The RFC 8785 form of the envelope as it was received: what is signed. None when half a surrogate pair stands in
    it, so that it has no such form; text that is read by `read_signed_envelope_json` always has one."""
    key_id: str
    signature: bytes
    """64 bytes."""
