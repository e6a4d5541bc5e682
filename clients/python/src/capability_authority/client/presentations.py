"""What a holder presents with its capability, and how it differs from what the capability binds."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Self

from google.protobuf.message import Message

from capability_authority.client.content import Content, content_bytes
from capability_authority.client.credentials import Credentials
from capability_authority.client.errors import AuthorityError, BindingMismatch
from capability_authority.client.values import Committed, IssuedCapability
from capability_authority.offline import capability_fingerprint, read_payload, sha256, to_wire
from capability_authority.v1.capability_service_pb2 import CommitValidatedRequest, Presentation
from capability_authority.v1.statements_pb2 import CommitCapability, SignedStatement

__all__ = ["CommitItem", "PreparedCommit", "StreamedCommit", "explain", "fingerprint_of", "present", "terms_of"]


@dataclass(frozen=True, slots=True)
class CommitItem:
    """One commit of many: what `CapabilityAuthority.commit` takes. What is None is taken from the capability."""

    capability: IssuedCapability | SignedStatement
    _: KW_ONLY
    content: Content
    media_type: str | None = None
    evidence_digests: Iterable[str] | None = None
    commit_idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class StreamedCommit:
    """One commit of a stream, and what came of it."""

    item: CommitItem
    """What was asked for."""
    commit_idempotency_key: str
    """The key under which it was presented."""
    outcome: Committed | AuthorityError
    """What `CapabilityAuthority.commit` would have returned, or the exception that it would have raised."""

    def result(self) -> Committed:
        """The commit that happened. Raises the exception when none did."""
        if isinstance(self.outcome, AuthorityError):
            raise self.outcome
        return self.outcome


@dataclass(frozen=True, slots=True)
class PreparedCommit:
    """A commit as it is sent, and what is needed to judge its answer."""

    terms: CommitCapability
    request: CommitValidatedRequest

    @classmethod
    def of(cls, item: CommitItem, upstream_envelope: bytes | None = None) -> Self:
        """Raises as `terms_of` and `content_bytes`, and `UnicodeDecodeError` for an envelope that is no text."""
        statement, terms = terms_of(item.capability)
        presentation = present(terms, item.content, item.media_type, item.evidence_digests, item.commit_idempotency_key)
        request = CommitValidatedRequest(capability=statement, presentation=presentation)
        if upstream_envelope is not None:
            request.upstream_envelope_json = upstream_envelope.decode()
        return cls(terms, request)

    @property
    def idempotency_key(self) -> str:
        """The key under which it is presented."""
        return self.request.presentation.commit_idempotency_key

    @property
    def content(self) -> bytes:
        """The exact bytes that are presented."""
        return self.request.presentation.content

    @property
    def fingerprint(self) -> str:
        """The request fingerprint, in wire form. Raises `DigestError` (of `offline`)."""
        return fingerprint_of(self.terms, self.request.presentation)

    def explain(self, error: BindingMismatch, credentials: Credentials) -> BindingMismatch:
        """The refusal with what the capability binds and what was presented."""
        return explain(error, self.terms, self.request.presentation, credentials)


def terms_of(capability: IssuedCapability | SignedStatement) -> tuple[SignedStatement, CommitCapability]:
    """The statement of a capability and what it binds, unverified: judging it is the authority's.

    Raises `StatementError` (of `offline`) for a statement of another kind or one that cannot be read.
    """
    if isinstance(capability, IssuedCapability):
        return capability.statement, capability.terms
    return capability, read_payload(capability.payload_type, capability.payload, CommitCapability)


def present(
    terms: CommitCapability,
    content: Content,
    media_type: str | None,
    evidence_digests: Iterable[str] | None,
    commit_idempotency_key: str | None,
) -> Presentation:
    """The presentation; what is None is taken from the capability. Raises as `content_bytes`."""
    if isinstance(content, bytes):
        media_type = media_type or terms.media_type
    data, kind = content_bytes(content, media_type)
    bound = map(to_wire, terms.evidence_digests)
    return Presentation(
        content=data,
        media_type=kind,
        evidence_digests=bound if evidence_digests is None else evidence_digests,
        commit_idempotency_key=(
            terms.commit_idempotency_key if commit_idempotency_key is None else commit_idempotency_key
        ),
    )


def fingerprint_of(terms: CommitCapability, presentation: Presentation) -> str:
    """The request fingerprint of the commit, in wire form. Raises `DigestError` (of `offline`)."""
    fingerprint = capability_fingerprint(
        terms,
        content_digest=to_wire(sha256(presentation.content)),
        media_type=presentation.media_type,
        evidence_digests=presentation.evidence_digests,
    )
    return to_wire(fingerprint)


def explain(
    error: BindingMismatch, terms: CommitCapability, presentation: Presentation, credentials: Credentials
) -> BindingMismatch:
    """The refusal with what the capability binds and what was presented, as far as either is known here."""
    if error.term not in CommitCapability.DESCRIPTOR.fields_by_name:
        return error
    presented = {
        "audience": credentials.audience,
        "holder_key": credentials.key_id,
        "content_digest": to_wire(sha256(presentation.content)),
        "media_type": presentation.media_type,
        "evidence_digests": _listed(presentation.evidence_digests),
        "commit_idempotency_key": presentation.commit_idempotency_key,
    }
    return error.explained(expected=_written(getattr(terms, error.term)), presented=presented.get(error.term))


def _written(value: object) -> str:
    match value:
        case bytes():
            return f"sha256:{value.hex()}" if value else "none"
        case Message():
            return " ".join(str(part) for _, part in value.ListFields())
        case str() | int():
            return str(value)
        case _:
            assert isinstance(value, Iterable)
            return _listed(map(_written, value))


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(texts) or "none"
