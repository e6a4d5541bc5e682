"""Statements: read, verified, signed, and the keys for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from authority.domain.action_envelope import ActionEnvelope, OpenedEnvelope
from authority.domain.capability import CommitCapability, OpenedCapability, Presentation
from authority.domain.decision import DecisionReceipt, SignedDecision
from authority.domain.evidence import EvidenceClaim
from authority.domain.grant import Grant, OpenedGrant
from authority.domain.invocation import Invocation
from authority.domain.plan import CommitReceipt
from authority.domain.proposal import ProposalRevision
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.revocation import FeedEnd, FeedItem
from authority.domain.statement import IssuerKey, KeyPurpose, Statement
from authority.domain.validation import SignedValidation, ValidationReceipt


@dataclass(frozen=True, slots=True)
class OpenedInvocation:
    """An Invocation that obeys the reading rule; `statement.signature` is not verified yet."""

    statement: Statement
    invocation: Invocation


class ActionEnvelopes(Protocol):
    """Reads signed envelopes of upstream."""

    def read(self, presented: bytes) -> OpenedEnvelope | Refusal:
        """The envelope, or PROOF_INVALID for what upstream's verifier would call malformed or invalid."""
        ...

    async def read_from_stranger(self, presented: bytes) -> OpenedEnvelope | Refusal:
        """The same, in such a way that nobody else waits while a large one is read."""
        ...

    def read_unsigned(self, text: bytes) -> ActionEnvelope | Refusal:
        """What an envelope says that comes without its signature, or MALFORMED `envelope_json`."""
        ...

    def is_signed_by(self, envelope: OpenedEnvelope, public_key: bytes) -> bool:
        """Whether exactly this key signed it."""
        ...


class Statements(Protocol):
    """Reads statements by the one reading rule and reckons their digests (semantics §3).

    Opening never verifies and answers MALFORMED for what breaks the rule; `judge_signature` never reads.
    """

    def open_capability(self, statement: Statement) -> OpenedCapability | Refusal:
        """The capability's terms, or MALFORMED."""
        ...

    def open_validation(self, statement: Statement) -> SignedValidation | Refusal:
        """The validation receipt, or MALFORMED."""
        ...

    def open_decision(self, statement: Statement) -> SignedDecision | Refusal:
        """The decision receipt, or MALFORMED."""
        ...

    def open_receipt(self, statement: Statement) -> CommitReceipt | Refusal:
        """The commit receipt, or MALFORMED."""
        ...

    def open_evidence_claim(self, statement: Statement) -> EvidenceClaim | Refusal:
        """What is vouched for, or MALFORMED; who signed it is not judged."""
        ...

    def open_grant(self, statement: Statement) -> OpenedGrant | Refusal:
        """The grant's terms, or MALFORMED."""
        ...

    def open_invocation(self, proof: bytes) -> OpenedInvocation | None:
        """The Invocation in a metadata entry, or None when it is none."""
        ...

    def judge_signature(
        self, statement: Statement, purpose: KeyPurpose, tenant: TenantRef, memory_namespace: str
    ) -> Refusal | None:
        """ISSUER_UNKNOWN, KEY_REVOKED or SIGNATURE_INVALID; None when an issuer key of the purpose and scope signed."""
        ...

    def judge_grant_signatures(self, chain: Sequence[OpenedGrant]) -> tuple[Refusal | None, ...]:
        """What is said of each block's signature, root first, for `grant_chain.judge_chain`."""
        ...

    def is_signed_by(self, statement: Statement, public_key: bytes) -> bool:
        """Whether exactly this key signed the statement."""
        ...

    def proposal_digest(self, revision: ProposalRevision) -> bytes:
        """The statement digest of the revision's frozen payload."""
        ...

    def fingerprint(self, terms: CommitCapability, presentation: Presentation) -> bytes:
        """The request fingerprint (semantics §4)."""
        ...

    def proposal_payload(self, revision: ProposalRevision) -> tuple[str, bytes]:
        """The payload type and the payload bytes that the proposal digest is reckoned over."""
        ...

    def digest(self, statement: Statement) -> bytes:
        """The statement digest: over its type and payload, never over its signature (semantics §3)."""
        ...

    def content_digest(self, content: bytes) -> bytes:
        """SHA-256 over the exact bytes."""
        ...

    async def content_problem(self, content: bytes, media_type: str) -> str | None:
        """Why the content's form is refused (JSON must be RFC 8785 canonical, text UTF-8 without NUL), or None."""
        ...


class Signer(Protocol):
    """Signs with the active key of the one purpose. Raises NoSigningKey when there is none."""

    def sign_capability(self, terms: CommitCapability) -> OpenedCapability:
        """The capability's statement."""
        ...

    def sign_validation(self, receipt: ValidationReceipt) -> SignedValidation:
        """The validation receipt's statement."""
        ...

    def sign_decision(self, receipt: DecisionReceipt) -> SignedDecision:
        """The decision receipt's statement."""
        ...

    def sign_grant(self, terms: Grant) -> OpenedGrant:
        """The grant's statement, of one that names this authority as its issuer."""
        ...

    def sign_receipt(self, receipt: CommitReceipt) -> Statement:
        """The commit receipt's statement."""
        ...

    def sign_revocation(self, tenant: TenantRef, item: FeedItem) -> Statement:
        """The statement of an item in the feed of the tenant: the same bytes whenever and wherever it is signed."""
        ...

    def sign_heartbeat(self, end: FeedEnd) -> Statement:
        """The statement that says how far the feed goes."""
        ...

    def attestation(self, tenant: TenantRef, statement: Statement, now: Instant) -> Statement | None:
        """A KeyAttestation when the key that signed the statement was revoked since, else None."""
        ...


class KeySet(Protocol):
    """The issuer keys as this process knows them, at most seconds old."""

    def published(self) -> tuple[IssuerKey, ...]:
        """Every key of the authority, revoked ones too."""
        ...

    def accepted_payload_types(self) -> tuple[str, ...]:
        """The payload types that this authority reads."""
        ...
