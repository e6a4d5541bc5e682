"""Who cited a record: found again by the record or its content, whatever became of it (semantics §8)."""

from dataclasses import dataclass

from authority.domain.references import Instant, PrincipalRef, TenantRef


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
