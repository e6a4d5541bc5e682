"""Remembers good signatures, so that a statement seen twice costs one Ed25519 verification."""

from typing import Final, TypeAlias

from authority.domain.statement import Statement
from authority.signing.recent import Recent
from capability_authority.offline import PublicKey, pae, sha256

CAPACITY: Final = 16_384
"""Signatures remembered by default: some 7 MiB."""

_Mark: TypeAlias = tuple[bytes, bytes, str]


class VerifiedSignatures:
    """The last good signatures, by statement digest, signature bytes and key id.

    The three together decide for ever whether a signature is good. Whether its key still counts is another question
    and never answered from here. Bad ones are not remembered: nobody can push good ones out with them.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._good: Recent[_Mark] = Recent(capacity)

    def check(self, statement: Statement, public_key: PublicKey) -> bool:
        """Whether this key made the signature over exactly this payload type and payload; False for any length."""
        if statement.key_id != public_key.key_id:
            return False
        signed = pae(statement.payload_type, statement.payload)
        mark = (sha256(signed), statement.signature, statement.key_id)
        if self._good.recall(mark):
            return True
        good = public_key.verify(statement.signature, signed)
        if good:
            self._good.keep(mark)
        return good

    def remember(self, statement: Statement, digest: bytes) -> None:
        """Takes in a statement that this process has just signed."""
        self._good.keep((digest, statement.signature, statement.key_id))
