"""A statement's bytes, and the keys that sign."""

from dataclasses import dataclass
from enum import Enum

from authority.domain.references import Instant, TenantRef


@dataclass(frozen=True, slots=True)
class Statement:
    """Exact payload bytes and one signature over their DSSE encoding (semantics §3). Kept and returned as they are."""

    payload_type: str
    payload: bytes
    key_id: str
    signature: bytes


class KeyPurpose(Enum):
    """The one thing a key signs; no statement passes for another (semantics §3)."""

    CAPABILITY = "capability"
    GRANT = "grant"
    RECEIPT = "receipt"
    VALIDATION = "validation"
    DECISION = "decision"
    REVOCATION = "revocation"


class KeyState(Enum):
    """Whether a key signs, only verifies, or neither."""

    ACTIVE = "active"
    RETIRING = "retiring"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class IssuerKey:
    """A key of the authority. `tenant` and `memory_namespace` narrow where it is valid; None is everywhere."""

    key_id: str
    public_key: bytes
    purpose: KeyPurpose
    state: KeyState
    create_time: Instant
    compromised_since: Instant | None = None
    tenant: TenantRef | None = None
    memory_namespace: str | None = None

    def covers(self, tenant: TenantRef, memory_namespace: str) -> bool:
        """Whether the key's scope reaches the tenant and memory namespace."""
        return self.tenant in (None, tenant) and self.memory_namespace in (None, memory_namespace)
