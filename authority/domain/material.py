"""What a validator may know of a proposal revision: plain values, nothing that could write (semantics §7)."""

from dataclasses import dataclass
from enum import Enum

from authority.domain.evidence import EvidenceState
from authority.domain.identity import PrincipalKind
from authority.domain.proposal import MemoryType, Provenance


class Need(Enum):
    """What is looked up for a validator, on request, before it judges."""

    DUPLICATE = "duplicate"
    """The living record that holds exactly this content."""
    EVIDENCE = "evidence"
    """What became of each evidence digest."""
    NEAR = "near"
    """Living records that say nearly the same."""
    ASSERTIONS = "assertions"
    """Living records that say something else of the same subject and predicate."""


@dataclass(frozen=True, slots=True)
class CitedEvidence:
    """What is known of one evidence digest; of what the proposer may not know of, as of what is not there, no state."""

    digest: bytes
    state: EvidenceState | None


@dataclass(frozen=True, slots=True)
class NearRecord:
    """A living record that says nearly the same: of 1,000 pieces of text about so many are in both."""

    record_id: str
    similarity_permille: int


@dataclass(frozen=True, slots=True)
class Alike:
    """Living records of the memory namespace that a content has to be seen beside.

    `is_complete` is false when there was more to compare with than is looked at.
    """

    near: tuple[NearRecord, ...] = ()
    contradicted: tuple[str, ...] = ()
    is_complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A revision as validators see it: bytes, words and facts, and no way back to where they came from.

    `content_problem` is what is wrong with the content's form, None for nothing; `duplicate_of`, `evidence` and `alike`
    hold something only for validators that need it. `alike` is None where the content could not be compared.
    """

    content: bytes
    media_type: str
    memory_type: MemoryType = MemoryType.DURABLE_FACT
    proposer_kind: PrincipalKind = PrincipalKind.USER
    provenance: Provenance = Provenance.UNKNOWN
    source_refs: tuple[str, ...] = ()
    subject_refs: tuple[str, ...] = ()
    content_problem: str | None = None
    duplicate_of: str | None = None
    evidence: tuple[CitedEvidence, ...] = ()
    alike: Alike | None = Alike()
