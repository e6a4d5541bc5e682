"""What a revision token says: which write a reader must be able to see (semantics §8)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Freshness:
    """A row that a write left behind: whoever reads it reads everything that was committed before it.

    Exactly one is set. On the database that took the write it is always there; a copy that lags may lack it.
    """

    receipt_id: str | None = None
    """Of a commit."""
    tombstone_sequence: int | None = None
    """Of a record's revocation."""
