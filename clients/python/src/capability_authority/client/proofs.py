"""Makes the proof of each attempt."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from capability_authority.client.credentials import Credentials
from capability_authority.offline import make_invocation
from capability_authority.v1.types_pb2 import PrincipalRef, TenantRef

__all__ = ["Prover"]

_NONCE_BYTES: Final = 16
_NANOS_PER_MS: Final = 1_000_000


def _now_ms() -> int:
    return time.time_ns() // _NANOS_PER_MS


def _new_nonce() -> bytes:
    return secrets.token_bytes(_NONCE_BYTES)


@dataclass(frozen=True, slots=True)
class Prover:
    """Signs Invocations with the key of the credentials (semantics §2)."""

    credentials: Credentials
    now_ms: Callable[[], int] = _now_ms
    """Milliseconds since 1970."""
    new_nonce: Callable[[], bytes] = _new_nonce
    """16 to 32 random bytes, new ones each time."""

    def prove(self, path: str, request_bytes: bytes) -> bytes:
        """The proof of one attempt: over exactly these bytes, with a nonce and time of its own.

        Every attempt has a new one, for a read's proof works once and both kinds go stale while a caller waits.
        """
        tenant, principal = self.credentials.tenant, self.credentials.principal
        return make_invocation(
            private_key=self.credentials.private_key,
            tenant=TenantRef(namespace=tenant.namespace, id=tenant.id),
            principal=PrincipalRef(namespace=principal.namespace, id=principal.id),
            audience=self.credentials.audience,
            method=path,
            request_bytes=request_bytes,
            nonce=self.new_nonce(),
            issued_ms=self.now_ms(),
        )
