"""Makes what each attempt says of its caller: a proof, or the tenant for which its connection or token speaks."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from capability_authority.client.credentials import Credentials, token_now
from capability_authority.offline import PROOF_METADATA_KEY, make_invocation
from capability_authority.v1.types_pb2 import PrincipalRef, TenantRef

__all__ = ["Prover"]

_NONCE_BYTES: Final = 16
_TENANT_ENTRY: Final = "capability-authority-tenant"
_AUTHORIZATION: Final = "authorization"
_NANOS_PER_MS: Final = 1_000_000


def _now_ms() -> int:
    return time.time_ns() // _NANOS_PER_MS


def _new_nonce() -> bytes:
    return secrets.token_bytes(_NONCE_BYTES)


@dataclass(frozen=True, slots=True)
class Prover:
    """Signs Invocations with the key of the credentials, where they have one (semantics §2)."""

    credentials: Credentials
    now_ms: Callable[[], int] = _now_ms
    """Milliseconds since 1970."""
    new_nonce: Callable[[], bytes] = _new_nonce
    """16 to 32 random bytes, new ones each time."""

    def entries(self, path: str, request_bytes: bytes, *, proves_itself: bool = False) -> list[tuple[str, str | bytes]]:
        """The metadata of one attempt: of a proof, or without a key to sign of the tenant; and of a token.

        A request that proves itself replaces the proof. Raises `CredentialsRefused` when the token cannot be had.
        """
        credentials, entries = self.credentials, list[tuple[str, str | bytes]]()
        if credentials.private_key is not None and not proves_itself:
            entries.append((PROOF_METADATA_KEY, self.prove(path, request_bytes)))
        else:
            # A certificate names no tenant, and a token of another must not pass for one of this.
            entries.append((_TENANT_ENTRY, "|".join(credentials.tenant)))
        if credentials.bearer_token is not None:
            entries.append((_AUTHORIZATION, f"Bearer {token_now(credentials.bearer_token)}"))
        return entries

    def prove(self, path: str, request_bytes: bytes) -> bytes:
        """The proof of one attempt: over exactly these bytes, with a nonce and time of its own.

        Every attempt has a new one, for a read's proof works once and both kinds go stale while a caller waits.
        Raises `CredentialsRefused` without a key that signs.
        """
        tenant, principal = self.credentials.tenant, self.credentials.principal
        return make_invocation(
            private_key=self.credentials.signing_key,
            tenant=TenantRef(namespace=tenant.namespace, id=tenant.id),
            principal=PrincipalRef(namespace=principal.namespace, id=principal.id),
            audience=self.credentials.audience,
            method=path,
            request_bytes=request_bytes,
            nonce=self.new_nonce(),
            issued_ms=self.now_ms(),
        )
