"""Invocations, sound and spoiled (semantics §2)."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from capability_authority.offline import PROOF_METADATA_KEY, PrivateKey, make_invocation
from capability_authority.v1.statements_pb2 import SignedStatement
from capability_authority_conformance.set_up import Caller
from capability_authority_conformance.target.rpcs import Rpc
from capability_authority_conformance.v1.suite_pb2 import SpoiledProof

__all__ = ["Metadata", "proof_metadata"]

Metadata = tuple[tuple[str, bytes], ...]

_NONCE_BYTES: Final = 16
_FAR_MS: Final = 600_000
_NS_PER_MS: Final = 1_000_000
_METHODS: Final = (
    "/capability_authority.v1.CapabilityService/GetCommitReceipt",
    "/capability_authority.v1.ProposalService/GetProposal",
)


@dataclass(frozen=True, slots=True)
class _Signed:
    """What an Invocation says, and who signs it: each part may be another than that of the call."""

    caller: Caller
    private_key: PrivateKey
    method: str
    request: bytes
    audience: str
    later_ms: int = 0

    def proof(self) -> tuple[str, bytes]:
        """The metadata entry."""
        proof = make_invocation(
            private_key=self.private_key,
            tenant=self.caller.tenant,
            principal=self.caller.principal,
            audience=self.audience,
            method=self.method,
            request_bytes=self.request,
            nonce=os.urandom(_NONCE_BYTES),
            issued_ms=time.time_ns() // _NS_PER_MS + self.later_ms,
        )
        return PROOF_METADATA_KEY, proof


def proof_metadata(
    caller: Caller, rpc: Rpc, request: bytes, audience: str, spoiled: "SpoiledProof.ValueType"
) -> Metadata:
    """The metadata entries that show who calls. `SPOILED_PROOF_USED` is the business of who remembers the last one."""
    sound = _Signed(caller, caller.private_key, rpc.path, request, audience)
    if spoiled in _CHANGED:
        return (_CHANGED[spoiled](sound).proof(),)
    match spoiled:
        case SpoiledProof.SPOILED_PROOF_ABSENT:
            return ()
        case SpoiledProof.SPOILED_PROOF_GARBAGE:
            return ((PROOF_METADATA_KEY, b"\xff" + os.urandom(63)),)
        case SpoiledProof.SPOILED_PROOF_TWICE:
            return (sound.proof(), sound.proof())
        case SpoiledProof.SPOILED_PROOF_FORGED:
            return ((PROOF_METADATA_KEY, _forged(sound.proof()[1])),)
        case _:
            return (sound.proof(),)


_CHANGED: Final[Mapping["SpoiledProof.ValueType", Callable[[_Signed], _Signed]]] = {
    SpoiledProof.SPOILED_PROOF_OTHER_RPC: lambda sound: replace(sound, method=_another_than(sound.method)),
    SpoiledProof.SPOILED_PROOF_OTHER_AUDIENCE: lambda sound: replace(sound, audience=f"not-{sound.audience}"),
    SpoiledProof.SPOILED_PROOF_OTHER_REQUEST: lambda sound: replace(sound, request=sound.request + b"\x00"),
    SpoiledProof.SPOILED_PROOF_STALE: lambda sound: replace(sound, later_ms=-_FAR_MS),
    SpoiledProof.SPOILED_PROOF_EARLY: lambda sound: replace(sound, later_ms=_FAR_MS),
    SpoiledProof.SPOILED_PROOF_UNKNOWN_KEY: lambda sound: replace(sound, private_key=PrivateKey.generate()),
}


def _another_than(method: str) -> str:
    return _METHODS[0] if method == _METHODS[1] else _METHODS[1]


def _forged(proof: bytes) -> bytes:
    statement = SignedStatement.FromString(proof)
    signature = bytearray(statement.signature.signature)
    signature[0] ^= 1
    statement.signature.signature = bytes(signature)
    return statement.SerializeToString(deterministic=True)
