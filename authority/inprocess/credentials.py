"""The port `CredentialRegister`."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.credential import Credential, CredentialForm
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.inprocess.tables import KeptKey, Tables
from authority.usecases.administer import AlreadyThere, NotThere, operator_event
from authority.usecases.register_credentials import RegisteredCredential


@dataclass(frozen=True, slots=True)
class InProcessCredentialRegister:
    """Implements `register_credentials.CredentialRegister`."""

    tables: Tables

    async def add(self, tenant: TenantRef, principal: PrincipalRef, credential: Credential, now: Instant) -> None:
        """Binds the credential to the principal."""
        if self.tables.active_principal(tenant, principal) is None:
            raise NotThere(f"no active principal {principal} in {tenant}")
        insert_credential(self.tables, tenant, principal, credential)
        self.tables.tell(operator_event(tenant, "principal_key.add", credential.id, ("", "active"), now))

    async def credentials(self, tenant: TenantRef) -> Sequence[RegisteredCredential]:
        """Of every principal."""
        found = [
            _registered(credential_id, kept)
            for keys in (self.tables.keys, self.tables.token_identities)
            for (of_tenant, credential_id), kept in keys.items()
            if of_tenant == tenant
        ]
        return sorted(found, key=lambda it: str(it.principal))


def insert_credential(tables: Tables, tenant: TenantRef, principal: PrincipalRef, credential: Credential) -> None:
    """Writes it. Raises AlreadyThere."""
    table = tables.token_identities if credential.form is CredentialForm.TOKEN else tables.keys
    if (tenant, credential.id) in table:
        raise AlreadyThere(f"{credential.form.value} {credential.shown} belongs to a principal of {tenant} already")
    table[tenant, credential.id] = KeptKey(principal, b"", is_active=True, credential=credential)


def _registered(credential_id: str, kept: KeptKey) -> RegisteredCredential:
    credential = kept.credential
    return RegisteredCredential(
        principal=kept.owner,
        credential_id=credential_id,
        form=credential.form if credential else CredentialForm.ED25519,
        shown=credential.shown if credential else "",
        issuer=credential.issuer if credential else "",
        state="active" if kept.is_active else "revoked",
    )
