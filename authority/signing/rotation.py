"""Makes issuer keys, for the operator's `authority keys rotate`.

A key is recorded before it is used: its private key file first, then its row, and only then do processes sign with it.
A crash between the two leaves a file that no row names, which signs nothing. Which keys retire for a new one, and that
a revoked one never comes back, is decided where the rows are.
"""

from dataclasses import dataclass
from typing import Final

from authority.domain.references import Instant, TenantRef
from authority.domain.statement import IssuerKey, KeyPurpose, KeyState
from authority.signing.key_folder import KeyFolder
from capability_authority.offline import PrivateKey


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a key is valid; None is everywhere."""

    tenant: TenantRef | None = None
    memory_namespace: str | None = None


EVERYWHERE: Final = Scope()


def generate(folder: KeyFolder, purpose: KeyPurpose, now: Instant, scope: Scope = EVERYWHERE) -> IssuerKey:
    """A new active key, whose private key is already durable in the folder and never leaves it.

    The caller inserts the row. Raises `OSError` when the file cannot be written.
    """
    private_key = PrivateKey.generate()
    folder.save(purpose, private_key)
    return IssuerKey(
        key_id=private_key.public_key.key_id,
        public_key=private_key.public_key.raw,
        purpose=purpose,
        state=KeyState.ACTIVE,
        create_time=now,
        tenant=scope.tenant,
        memory_namespace=scope.memory_namespace,
    )
