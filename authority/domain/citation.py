"""Who cited a record: found again by the record or its content, whatever became of it (semantics §8)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal, malformed
from authority.domain.shape import is_uuid

RECORD_SOURCE: Final = "record:"
"""How a source ref begins that cites a record of this authority."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One thing that rests on one record.

    `content_digest` and `receipt_digest` say what was cited and under which proof, so that the citing thing can be
    judged again when the content is revoked (ADR-328 test 13).
    """

    citation_id: str
    tenant: TenantRef
    record_id: str
    memory_namespace: str
    content_digest: bytes
    receipt_digest: bytes | None
    """The statement digest of the record's commit receipt; None for a record that nobody validated."""
    cited_by: PrincipalRef
    citing_kind: str
    """What kind of thing cites: the citer's word, such as `answer` or `plan`."""
    citing_ref: str
    """Which one: the citer's words."""
    create_time: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCitation:
    """What a citer tells, and what the authority adds. Where the record lives is the store's to say."""

    citation_id: str
    record_id: str
    receipt_digest: bytes | None
    citing_kind: str
    citing_ref: str
    create_time: Instant


@dataclass(frozen=True, slots=True)
class CitedRecord:
    """What was cited: one record."""

    record_id: str


@dataclass(frozen=True, slots=True)
class CitedContent:
    """What was cited: every record of a memory namespace with this content."""

    memory_namespace: str
    content_digest: bytes


Cited = CitedRecord | CitedContent


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A record of this authority that a proposal names among its sources; `path` is the field that names it."""

    path: str
    record_id: str


@dataclass(frozen=True, slots=True)
class CitedMemory:
    """What became by now of the records that a proposal cites: nothing of what they say (ADR-328 test 13)."""

    validated: frozenset[str] = frozenset()
    """Ids of those that are read and were validated."""
    unvalidated: frozenset[str] = frozenset()
    """Of those that are read and were not."""
    withdrawn: frozenset[str] = frozenset()
    """Of those that its proposer cannot read any more: revoked, superseded, expired, hidden, or never validated."""

    @property
    def count(self) -> int:
        """Of all."""
        return len(self.validated) + len(self.unvalidated) + len(self.withdrawn)


NOTHING_CITED: Final = CitedMemory()


def cited_memory(source_refs: Sequence[str], read: Mapping[str, bool]) -> CitedMemory:
    """Of the records that source refs cite, given which are read now and whether each of these was validated."""
    cited = {ref.removeprefix(RECORD_SOURCE) for ref in source_refs if ref.startswith(RECORD_SOURCE)}
    return CitedMemory(
        validated=frozenset(it for it in cited if read.get(it) is True),
        unvalidated=frozenset(it for it in cited if read.get(it) is False),
        withdrawn=frozenset(it for it in cited if it not in read),
    )


def cited_sources(source_refs: Sequence[str]) -> tuple[CitedSource, ...] | Refusal:
    """The records that source refs of the form `record:<id>` cite; all other refs are the proposer's own words.

    MALFORMED for one that begins so and names no record.
    """
    cited: list[CitedSource] = []
    for index, ref in enumerate(source_refs):
        if not ref.startswith(RECORD_SOURCE):
            continue
        path, record_id = f"source_refs[{index}]", ref.removeprefix(RECORD_SOURCE)
        if not is_uuid(record_id):
            return malformed(path, "must be record: and the id of a record")
        cited.append(CitedSource(path, record_id))
    return tuple(cited)
