"""The operator's register of what principals are known by: no RPC can change it (semantics §2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from authority.domain.credential import Credential, CredentialForm
from authority.domain.references import Instant, PrincipalRef, TenantRef


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredCredential:
    """What a principal is or was known by: a key that signs, when `shown` is empty."""

    principal: PrincipalRef
    credential_id: str
    form: CredentialForm
    shown: str = ""
    issuer: str = ""
    """Of a token."""
    state: str
    """`active` or `revoked`."""


class CredentialRegister(Protocol):
    """Each act is one transaction with its audit event. What revokes a credential is `Administration`'s."""

    async def add(self, tenant: TenantRef, principal: PrincipalRef, credential: Credential, now: Instant) -> None:
        """The principal is known by it from now on.

        Raises NotThere when the principal is not registered or revoked, AlreadyThere when the credential belongs to a
        principal of the tenant, or once did: a revoked one never comes back.
        """
        ...

    async def credentials(self, tenant: TenantRef) -> Sequence[RegisteredCredential]:
        """Of every principal of the tenant, keys that sign and revoked ones too; by principal, oldest first."""
        ...
