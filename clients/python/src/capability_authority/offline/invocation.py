"""Invocations: proof that the holder of a registered key makes exactly this call (semantics §2)."""

import re
from typing import Final

from capability_authority.offline.digests import sha256
from capability_authority.offline.instants import timestamp
from capability_authority.offline.keys import PrivateKey
from capability_authority.offline.statements import sign
from capability_authority.v1.statements_pb2 import Invocation
from capability_authority.v1.types_pb2 import PrincipalRef, TenantRef

__all__ = ["MAX_NONCE_BYTES", "MAX_PROOF_BYTES", "MIN_NONCE_BYTES", "PROOF_METADATA_KEY", "make_invocation"]

PROOF_METADATA_KEY: Final = "capability-authority-proof-bin"
"""The one metadata entry that carries the proof; a second one is refused (case I06)."""

MIN_NONCE_BYTES: Final = 16
MAX_NONCE_BYTES: Final = 32
MAX_PROOF_BYTES: Final = 2048
"""Metadata beyond this is refused (semantics §10)."""

_METHOD: Final = re.compile(r"/[A-Za-z0-9_.]+/[A-Za-z0-9_]+")


def make_invocation(
    *,
    private_key: PrivateKey,
    tenant: TenantRef,
    principal: PrincipalRef,
    audience: str,
    method: str,
    request_bytes: bytes,
    nonce: bytes,
    issued_ms: int,
) -> bytes:
    """The serialized statement to send as `PROOF_METADATA_KEY`.

    `method` is the full RPC name, "/package.Service/Method". `request_bytes` are the serialized request exactly as it
    will be sent (empty for a stream): serialize once, sign those bytes, send those bytes. `nonce` is 16 to 32 random
    bytes, fresh for every call but the same when a call is retried with the same bytes. `issued_ms` is the caller's
    clock in milliseconds since 1970.

    Raises `ValueError` for a method or nonce of another form, for an instant out of range, and when the proof would be
    larger than `MAX_PROOF_BYTES`.
    """
    if _METHOD.fullmatch(method) is None:
        raise ValueError('a method is a full RPC name, "/package.Service/Method"')
    if not MIN_NONCE_BYTES <= len(nonce) <= MAX_NONCE_BYTES:
        raise ValueError(f"a nonce has {MIN_NONCE_BYTES} to {MAX_NONCE_BYTES} bytes, not {len(nonce)}")
    invocation = Invocation(
        tenant=tenant,
        principal=principal,
        audience=audience,
        method=method,
        request_digest=sha256(request_bytes),
        nonce=nonce,
        issue_time=timestamp(issued_ms),
    )
    proof = sign(invocation, private_key).SerializeToString(deterministic=True)
    if len(proof) > MAX_PROOF_BYTES:
        raise ValueError(f"a proof has at most {MAX_PROOF_BYTES} bytes, not {len(proof)}")
    return proof
