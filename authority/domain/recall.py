"""Asking learned memory by keywords (semantics §8). What comes back is evidence: a score is no authority."""

from dataclasses import dataclass

from authority.domain.proposal import MemoryType, Provenance
from authority.domain.record import MemoryRecord
from authority.domain.references import Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """What is looked for in one memory namespace.

    Words are all wanted, `or` between two wants either, quotes want a phrase, a minus sign excludes. Every filter that
    is not empty narrows, and all of them hold together; of the values of one filter a record has at least one. None of
    them can show a record that its reader may not see (case G04).
    """

    memory_namespace: str
    text: str
    memory_types: tuple[MemoryType, ...] = ()
    provenances: tuple[Provenance, ...] = ()
    source_refs: tuple[str, ...] = ()
    subject_refs: tuple[str, ...] = ()
    created_after_time: Instant | None = None
    """Records created then or later."""
    created_before_time: Instant | None = None
    """Records created before."""
    with_unvalidated: bool = False
    """Also, where the memory namespace enforces, what was written there without validation before it did."""


@dataclass(frozen=True, slots=True, order=True)
class RecallPosition:
    """A hit's place: the higher score first, of equal scores the newer record, of those the greater id."""

    score: int
    create_time: Instant
    record_id: str


@dataclass(frozen=True, slots=True)
class RecallHit:
    """A record that was found, and how well it matches: 0 to 1,000,000.

    The score is reckoned from the query and the record's words alone: who said it, and how trusted, never enters
    (case G12).
    """

    record: MemoryRecord
    score: int
    observe_time: Instant
    """When the authority took what the record says: its revision was proposed then."""

    @property
    def position(self) -> RecallPosition:
        """Where it stands among the hits of its query."""
        return RecallPosition(self.score, self.record.create_time, self.record.record_id)


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """Hits in their order, and whether nothing comes after them."""

    hits: tuple[RecallHit, ...]
    is_last: bool
