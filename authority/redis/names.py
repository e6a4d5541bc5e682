"""Key names: hashes of length-prefixed parts, under the generation of the database (data, Redis)."""

import hashlib
import re
from dataclasses import dataclass

from authority.domain.plan import Claim

_GENERATION = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HASH_HEX = 32
_LENGTH_BYTES = 4


@dataclass(frozen=True, slots=True)
class ClaimKeys:
    """The two keys of a claim. They share a hash tag and so a cluster slot (case B12)."""

    lease: str
    replay: str


class KeyNames:
    """Names every key of one database generation.

    `generation` is the database's system identifier and timeline: a restored or failed-over database does not meet the
    cache of the one that it replaces (case A17). Raises ValueError when it is not 1 to 64 of `A-Z a-z 0-9 . _ -`.
    """

    def __init__(self, generation: str) -> None:
        if _GENERATION.fullmatch(generation) is None:
            raise ValueError("a database generation is 1 to 64 ASCII letters, digits and . _ -")
        self._prefix = f"authority:{generation}"

    def claim(self, claim: Claim) -> ClaimKeys:
        """The keys of the holder's idempotency key; the fingerprint is in their values, not in their names."""
        tag = _hash(
            "claim",
            claim.tenant.namespace,
            claim.tenant.id,
            claim.holder.namespace,
            claim.holder.id,
            claim.idempotency_key,
        )
        return ClaimKeys(f"{self._prefix}:lease:{{{tag}}}", f"{self._prefix}:replay:{{{tag}}}")

    def nonce(self, key_id: str, nonce: bytes) -> str:
        """The key of one proof of a read."""
        return f"{self._prefix}:nonce:{{{_hash('nonce', key_id, nonce)}}}"

    def probe(self) -> str:
        """The key that is written to learn whether Redis takes writes."""
        return f"{self._prefix}:probe"


def _hash(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(_LENGTH_BYTES, "big"))
        digest.update(data)
    return digest.hexdigest()[:_HASH_HEX]
