"""The port `ExternalAuthorities`."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from authority.domain.external_authority import ExternalAuthority, ExternalKey
from authority.domain.references import Instant, TenantRef
from authority.inprocess.tables import Tables
from authority.usecases.administer import AlreadyThere, NotThere, operator_event
from authority.usecases.external_authorities import NewExternalAuthority


@dataclass(frozen=True, slots=True)
class InProcessExternalAuthorities:
    """Implements `external_authorities.ExternalAuthorities`."""

    tables: Tables

    async def put(self, new: NewExternalAuthority, now: Instant) -> None:
        """Adds or changes it, and adds keys."""
        for name in sorted(new.memory_namespaces):
            if (new.tenant, name) not in self.tables.namespaces:
                raise NotThere(f"no memory namespace {name} in {new.tenant}")
        added = tuple(ExternalKey(f"sha256:{hashlib.sha256(raw).hexdigest()}", raw) for raw in new.public_keys)
        taken = {key.key_id for it in self.tables.externals_of(new.tenant) for key in it.keys}
        for key in added:
            if key.key_id in taken:
                raise AlreadyThere(f"key {key.key_id} belongs to an external authority of {new.tenant}, or once did")
        before = self.tables.external_authorities.get((new.tenant, new.issuer))
        after = ExternalAuthority(
            tenant=new.tenant,
            issuer=new.issuer,
            memory_namespaces=new.memory_namespaces,
            required=new.required,
            keys=(*(before.keys if before else ()), *added),
        )
        self.tables.external_authorities[new.tenant, new.issuer] = after
        states = (_state(before) if before else "", _state(after))
        self._tell(new.tenant, "external_authority.put", new.issuer, states, now)

    async def revoke_key(self, tenant: TenantRef, issuer: str, key_id: str, now: Instant) -> None:
        """Withdraws the key."""
        found = self.tables.external_authorities.get((tenant, issuer))
        key = found.key(key_id) if found else None
        if found is None or key is None or not key.is_active:
            raise NotThere(f"no active key {key_id} of {issuer} in {tenant}")
        keys = tuple(replace(it, revoke_time=now) if it is key else it for it in found.keys)
        self.tables.external_authorities[tenant, issuer] = replace(found, keys=keys)
        self._tell(tenant, "external_key.revoke", key_id, ("active", "revoked"), now)

    async def list(self, tenant: TenantRef) -> Sequence[ExternalAuthority]:
        """Every one of the tenant."""
        return self.tables.externals_of(tenant)

    def _tell(self, tenant: TenantRef, kind: str, subject: str, states: tuple[str, str], now: Instant) -> None:
        self.tables.tell(operator_event(tenant, kind, subject, states, now))


def _state(external: ExternalAuthority) -> str:
    return f"{'required' if external.required else 'optional'} in {' '.join(external.memory_namespaces)}"
