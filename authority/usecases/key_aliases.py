"""The operator's register of names for keys: no RPC can change it."""

from collections.abc import Sequence
from typing import Protocol

from authority.domain.key_alias import KeyAlias
from authority.domain.references import Instant, TenantRef


class KeyAliases(Protocol):
    """Each act is one transaction with its audit event."""

    async def add(self, tenant: TenantRef, alias: str, key_id: str, now: Instant) -> None:
        """The key with the thumbprint `key_id` may be called so from now on.

        `alias` is one by `is_key_alias`. Raises NotThere unless it is an active Ed25519 key of an active principal of
        the tenant, AlreadyThere when the name stands for a key already, be it this one.
        """
        ...

    async def revoke(self, tenant: TenantRef, alias: str, now: Instant) -> str:
        """Nothing is called so any more; answers with the thumbprint of the key, which itself goes on.

        A withdrawal: it waits for the commits that run, and no commit that follows takes the name for the key. Raises
        NotThere when the name stands for no key.
        """
        ...

    async def aliases(self, tenant: TenantRef) -> Sequence[KeyAlias]:
        """All of the tenant, revoked ones too; by name, oldest first."""
        ...
