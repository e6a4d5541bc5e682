"""The operator's register of external authorities on policy: no RPC can change it (semantics §7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from authority.domain.external_authority import ExternalAuthority
from authority.domain.references import Instant, TenantRef


@dataclass(frozen=True, slots=True, kw_only=True)
class NewExternalAuthority:
    """An external authority as it is to be from now on, and the keys that it gets beside those it has."""

    tenant: TenantRef
    issuer: str
    memory_namespaces: tuple[str, ...]
    required: bool
    public_keys: tuple[bytes, ...]
    """Ed25519, 32 bytes each."""


class ExternalAuthorities(Protocol):
    """Each act is one transaction with its audit event, and excludes commits: it may withdraw what they rest on."""

    async def put(self, new: NewExternalAuthority, now: Instant) -> None:
        """Adds the authority, or changes where it has a say and whether it is required, and adds keys.

        Raises NotThere for a memory namespace that is not there, AlreadyThere for a key that belongs to another
        authority or was revoked: a revoked key never comes back.
        """
        ...

    async def revoke_key(self, tenant: TenantRef, issuer: str, key_id: str, now: Instant) -> None:
        """Irreversible: no decision that rests on the key is made or committed any more. Raises NotThere.

        An authority that is required stays required, with whatever keys it has left: a revocation never lets anything
        through.
        """
        ...

    async def list(self, tenant: TenantRef) -> Sequence[ExternalAuthority]:
        """Every one of the tenant with all its keys, by issuer; keys oldest first."""
        ...
