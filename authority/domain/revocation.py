"""What was withdrawn for ever, as the feed of a tenant tells it (semantics §3, api.md WatchRevocations)."""

from dataclasses import dataclass
from enum import Enum

from authority.domain.references import Instant, TenantRef

AUTHORITY_ITSELF = TenantRef("capability-authority", "itself")
"""Under this tenant is kept what belongs to none: issuer keys and policy bundles. Its revocations are in every feed."""


class RevokedKind(Enum):
    """What can be withdrawn. The word says how `Revoked.subject` is to be read."""

    CAPABILITY = "capability"
    """The capability's id."""
    GRANT = "grant"
    """The grant's statement digest, `sha256:…`."""
    APPROVAL = "approval"
    """The approval's reference: what capabilities that rest on it name."""
    RECORD = "record"
    """The record's id; its content is named beside it."""
    PRINCIPAL = "principal"
    """`namespace|id`."""
    PRINCIPAL_KEY = "principal_key"
    """The id of a proof key."""
    ISSUER_KEY = "issuer_key"
    """The id of a key of the authority, withdrawn in every tenant at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revoked:
    """One fact of the feed. `memory_namespace` and `content_digest` say which content of a record is withdrawn."""

    tenant: TenantRef
    kind: RevokedKind
    subject: str
    revoke_time: Instant
    memory_namespace: str = ""
    content_digest: bytes | None = None


@dataclass(frozen=True, slots=True)
class FeedItem:
    """A fact at its place in the feed of a tenant. `previous_sequence` is that of the item before, 0 for the first."""

    revoked: Revoked
    sequence: int
    previous_sequence: int


@dataclass(frozen=True, slots=True)
class FeedEnd:
    """Everything that was acknowledged before `as_of` is in the tenant's feed up to `sequence` (0: it is empty)."""

    tenant: TenantRef
    sequence: int
    as_of: Instant
