"""Key names: hashes of length-prefixed parts, under the database and its incarnation (data, Redis)."""

import hashlib
import re
from dataclasses import dataclass

from authority.domain.plan import Claim
from authority.usecases.ports import DatabaseGeneration

_PART = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HASH_HEX = 32
_LENGTH_BYTES = 4


@dataclass(frozen=True, slots=True)
class ClaimKeys:
    """The two keys of a claim. They share a hash tag and so a cluster slot (case B12)."""

    lease: str
    replay: str


class KeyNames:
    """Names every key of one database.

    Leases and receipts are named by its incarnation: a restored or failed-over database does not meet the cache of the
    one that it replaces (case A17). Nonces are not: a proof that was used stays used, whichever database answers, and
    processes that met the database before and after a failover must share them (case I03).
    """

    def __init__(self, generation: DatabaseGeneration) -> None:
        self.follow(generation)

    def follow(self, generation: DatabaseGeneration) -> None:
        """From now on names of this generation. Raises ValueError when a part could break the names."""
        if not all(_PART.fullmatch(part) for part in (generation.cluster, generation.incarnation)):
            raise ValueError("the parts of a database generation are 1 to 64 ASCII letters, digits and . _ -")
        self._cluster = f"authority:{generation.cluster}"
        self._incarnation = f"{self._cluster}:{generation.incarnation}"

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
        return ClaimKeys(f"{self._incarnation}:lease:{{{tag}}}", f"{self._incarnation}:replay:{{{tag}}}")

    def nonce(self, key_id: str, nonce: bytes) -> str:
        """The key of one proof of a read."""
        return f"{self._cluster}:nonce:{{{_hash('nonce', key_id, nonce)}}}"

    def probe(self) -> str:
        """The key that is written to learn whether Redis takes writes."""
        return f"{self._cluster}:probe"


def _hash(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(_LENGTH_BYTES, "big"))
        digest.update(data)
    return digest.hexdigest()[:_HASH_HEX]
