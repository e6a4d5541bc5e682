"""Remembers good signatures, so that a statement seen twice costs one Ed25519 verification."""

from collections import OrderedDict
from threading import Lock
from typing import Final, TypeAlias

from authority.domain.statement import Statement
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
        self._capacity = capacity
        self._marks: OrderedDict[_Mark, None] = OrderedDict()
        self._lock = Lock()

    def check(self, statement: Statement, public_key: PublicKey) -> bool:
        """Whether this key made the signature over exactly this payload type and payload; False for any length."""
        if statement.key_id != public_key.key_id:
            return False
        signed = pae(statement.payload_type, statement.payload)
        mark = (sha256(signed), statement.signature, statement.key_id)
        if self._recall(mark):
            return True
        good = public_key.verify(statement.signature, signed)
        if good:
            self._keep(mark)
        return good

    def remember(self, statement: Statement, digest: bytes) -> None:
        """Takes in a statement that this process has just signed."""
        self._keep((digest, statement.signature, statement.key_id))

    def _recall(self, mark: _Mark) -> bool:
        with self._lock:
            known = mark in self._marks
            if known:
                self._marks.move_to_end(mark)
            return known

    def _keep(self, mark: _Mark) -> None:
        with self._lock:
            self._marks[mark] = None
            self._marks.move_to_end(mark)
            if len(self._marks) > self._capacity:
                self._marks.popitem(last=False)
