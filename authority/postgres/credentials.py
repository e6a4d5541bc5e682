"""What principals are known by beside their first key, kept in PostgreSQL."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.credential import Credential, CredentialForm
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.postgres import rows
from authority.postgres.acting import act_of
from authority.postgres.connections import Connection, Database
from authority.postgres.sql import query
from authority.usecases.administer import AlreadyThere, NotThere
from authority.usecases.register_credentials import RegisteredCredential


@dataclass(frozen=True, slots=True)
class PostgresCredentialRegister:
    """Implements `register_credentials.CredentialRegister`."""

    database: Database

    async def add(self, tenant: TenantRef, principal: PrincipalRef, credential: Credential, now: Instant) -> None:
        """Binds the credential to the principal."""
        async with act_of(self.database, tenant, "principal_key.add", credential.id, "active", now) as act:
            if await act.connection.fetchrow(query("active_principal"), str(tenant), str(principal)) is None:
                raise NotThere(f"no active principal {principal} in {tenant}")
            await insert_credential(act.connection, tenant, principal, credential, now)

    async def credentials(self, tenant: TenantRef) -> Sequence[RegisteredCredential]:
        """Of every principal."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(query("credential_list"), str(tenant))
        return [_registered(row) for row in found]


async def insert_credential(
    connection: Connection, tenant: TenantRef, principal: PrincipalRef, credential: Credential, now: Instant
) -> None:
    """Writes it, in the transaction of an act. Raises AlreadyThere."""
    place = (str(tenant), rows.key_id_bytes(credential.id), str(principal))
    if credential.form is CredentialForm.TOKEN:
        added = await connection.fetchval(
            query("insert_token_identity"), *place, credential.issuer, credential.shown, now
        )
    else:
        added = await connection.fetchval(
            query("insert_certificate"), *place, credential.form.value, credential.shown, now
        )
    if not added:
        raise AlreadyThere(f"{credential.form.value} {credential.shown} belongs to a principal of {tenant} already")


def _registered(row: rows.Row) -> RegisteredCredential:
    return RegisteredCredential(
        principal=rows.principal_ref(row["principal"]),
        credential_id=rows.key_id_text(row["credential_id"]),
        form=CredentialForm(row["form"]),
        shown=row["shown"],
        issuer=row["issuer"],
        state=row["state"],
    )
