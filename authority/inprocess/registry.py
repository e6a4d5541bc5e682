"""The port `Registry`, and the authority's keys."""

from dataclasses import dataclass

from authority.domain.identity import Principal, RegisteredKey
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.statement import IssuerKey
from authority.inprocess.tables import Tables


@dataclass(frozen=True, slots=True)
class InProcessRegistry:
    """Implements `ports.Registry`."""

    tables: Tables

    async def active_key(self, tenant: TenantRef, principal: PrincipalRef, key_id: str) -> RegisteredKey | None:
        """The key when it, and its principal, are active."""
        found, key = self.tables.active_principal(tenant, principal), self.tables.active_key(tenant, principal, key_id)
        return RegisteredKey(found, key_id, key.public_key) if found and key else None

    async def owner(self, tenant: TenantRef, credential_id: str) -> RegisteredKey | None:
        """The credential when it, and its principal, are active."""
        place = (tenant, credential_id)
        key = self.tables.keys.get(place) or self.tables.token_identities.get(place)
        found = self.tables.active_principal(tenant, key.owner) if key and key.is_active else None
        return RegisteredKey(found, credential_id, key.public_key) if found and key else None

    async def principal(self, tenant: TenantRef, principal: PrincipalRef) -> Principal | None:
        """The principal when it is active."""
        return self.tables.active_principal(tenant, principal)


@dataclass(frozen=True, slots=True)
class InProcessIssuerKeys:
    """The authority's keys, which belong to no tenant."""

    tables: Tables

    async def load(self) -> tuple[IssuerKey, ...]:
        """Every key, oldest first."""
        return tuple(sorted(self.tables.issuer_keys.values(), key=lambda key: (key.create_time, key.key_id)))
