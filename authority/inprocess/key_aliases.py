"""The port `KeyNames`, and the operator's register behind it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from authority.domain.key_alias import KeyAlias, NamedKey
from authority.domain.references import Instant, TenantRef
from authority.inprocess.tables import Tables
from authority.usecases.administer import AlreadyThere, NotThere, operator_event


@dataclass(frozen=True, slots=True)
class InProcessKeyAliases:
    """Implements `ports.KeyNames` and `key_aliases.KeyAliases`."""

    tables: Tables

    async def key_called(self, tenant: TenantRef, name: str) -> NamedKey | None:
        """The key by its thumbprint or a name that stands for it."""
        alias = self._live(tenant, name)
        key_id = alias.key_id if alias else name
        kept = self.tables.keys.get((tenant, key_id))
        if kept is None or not kept.is_active or not kept.signs:
            return None
        owner = self.tables.active_principal(tenant, kept.owner)
        return NamedKey(owner, key_id, kept.public_key, kept.create_time) if owner else None

    async def add(self, tenant: TenantRef, alias: str, key_id: str, now: Instant) -> None:
        """Gives the key a name."""
        key = await self.key_called(tenant, key_id)
        if key is None:
            raise NotThere(f"no active key {key_id} that signs in {tenant}")
        if self._live(tenant, alias):
            raise AlreadyThere(f"{alias} stands for a key of {tenant} already")
        self.tables.key_aliases.append(
            KeyAlias(tenant=tenant, alias=alias, key_id=key_id, principal=key.principal.ref, create_time=now)
        )
        self.tables.tell(operator_event(tenant, "key_alias.add", alias, ("", key_id), now))

    async def revoke(self, tenant: TenantRef, alias: str, now: Instant) -> str:
        """Takes the name back."""
        live = self._live(tenant, alias)
        if live is None:
            raise NotThere(f"{alias} stands for no key of {tenant}")
        self.tables.key_aliases[self.tables.key_aliases.index(live)] = replace(live, revoke_time=now)
        self.tables.tell(operator_event(tenant, "key_alias.revoke", alias, (live.key_id, "revoked"), now))
        return live.key_id

    async def aliases(self, tenant: TenantRef) -> Sequence[KeyAlias]:
        """Of every key."""
        found = [
            replace(it, key_is_active=await self.key_called(tenant, it.key_id) is not None)
            for it in self.tables.key_aliases
            if it.tenant == tenant
        ]
        return sorted(found, key=lambda it: it.alias)

    def _live(self, tenant: TenantRef, alias: str) -> KeyAlias | None:
        found = (it for it in self.tables.key_aliases if (it.tenant, it.alias, it.revoke_time) == (tenant, alias, None))
        return next(found, None)
