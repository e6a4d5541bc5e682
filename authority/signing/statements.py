"""Reads statements and judges who signed them (semantics §3)."""

import asyncio
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from authority.domain.capability import CommitCapability, OpenedCapability, Presentation
from authority.domain.decision import SignedDecision
from authority.domain.evidence import EvidenceClaim
from authority.domain.grant import OpenedGrant
from authority.domain.plan import CommitReceipt
from authority.domain.proposal import ProposalRevision
from authority.domain.reasons import Reason
from authority.domain.references import TenantRef
from authority.domain.refusal import Refusal
from authority.domain.statement import KeyPurpose, KeyState, Statement
from authority.domain.validation import SignedValidation
from authority.signing.codec.proposal import encode_proposal
from authority.signing.codec.words import KEY_PURPOSES
from authority.signing.key_ring import KeyRing
from authority.signing.recent import Recent, RecentValues
from authority.signing.statement_kinds import CAPABILITY, DECISION, EVIDENCE, GRANT, INVOCATION, RECEIPT, VALIDATION
from authority.signing.verified import VerifiedSignatures
from authority.usecases.ports import OpenedInvocation
from capability_authority.offline import (
    EnvelopeRefused,
    KeyRefused,
    NonCanonicalJson,
    PublicKey,
    encode,
    pae,
    parse_statement,
    request_fingerprint,
    require_canonical,
    sha256,
    statement_digest,
    to_wire,
)
from capability_authority.offline.statements import PROPOSAL_REVISION
from capability_authority.offline.verification import PURPOSES

_HOLDER_KEYS: Final = 4_096
"""Public keys of holders that are kept loaded."""
_JUDGED_HERE_BYTES: Final = 32 * 1024
"""JSON up to this size is judged at once, larger in a thread: 0.1 ms a KiB at worst."""
_GRANTS: Final = 1_024
_GRANT_BYTES: Final = 4_096
"""Grants up to this size are kept read, so many of them: some 8 MiB at worst."""
_CANONICAL_CONTENTS: Final = 16_384
"""Digests of JSON contents that were found canonical."""


class StatementReader:
    """Implements the port `Statements`. Good signatures are remembered; the state and scope of keys never are."""

    def __init__(self, ring: KeyRing, verified: VerifiedSignatures | None = None) -> None:
        self._ring = ring
        self._verified = verified or VerifiedSignatures()
        self._grants: RecentValues[Statement, OpenedGrant] = RecentValues(_GRANTS)
        self._canonical: Recent[bytes] = Recent(_CANONICAL_CONTENTS)

    def open_capability(self, statement: Statement) -> OpenedCapability | Refusal:
        """The capability's terms, or MALFORMED `capability.…`."""
        terms = CAPABILITY.read(statement)
        return terms if isinstance(terms, Refusal) else OpenedCapability(statement, _digest(statement), terms)

    def open_validation(self, statement: Statement) -> SignedValidation | Refusal:
        """The validation receipt, or MALFORMED `validation_receipt.…`."""
        receipt = VALIDATION.read(statement)
        return receipt if isinstance(receipt, Refusal) else SignedValidation(receipt, statement, _digest(statement))

    def open_decision(self, statement: Statement) -> SignedDecision | Refusal:
        """The decision receipt, or MALFORMED `decision_receipt.…`."""
        receipt = DECISION.read(statement)
        return receipt if isinstance(receipt, Refusal) else SignedDecision(receipt, statement, _digest(statement))

    def open_receipt(self, statement: Statement) -> CommitReceipt | Refusal:
        """The commit receipt, or MALFORMED `receipt.…`."""
        return RECEIPT.read(statement)

    def open_evidence_claim(self, statement: Statement) -> EvidenceClaim | Refusal:
        """What is vouched for, or MALFORMED `claim.…`; who signed it is not judged."""
        return EVIDENCE.read(statement)

    def open_grant(self, statement: Statement) -> OpenedGrant | Refusal:
        """The grant's terms, or MALFORMED `grant.…`.

        A grant comes again with every use of it and of what was derived from it: what was read of exactly these bytes
        is remembered. Whether its signature is good is another question.
        """
        if grant := self._grants.find(statement):
            return grant
        terms = GRANT.read(statement)
        if isinstance(terms, Refusal):
            return terms
        grant = OpenedGrant(statement, _digest(statement), terms)
        if len(statement.payload) <= _GRANT_BYTES:
            self._grants.keep(statement, grant)
        return grant

    def open_invocation(self, proof: bytes) -> OpenedInvocation | None:
        """The Invocation in a metadata entry, or None when it is none."""
        try:
            signed = parse_statement(proof)
        except EnvelopeRefused:
            return None
        statement = Statement(signed.payload_type, signed.payload, signed.signature.key_id, signed.signature.signature)
        invocation = INVOCATION.read(statement)
        return None if isinstance(invocation, Refusal) else OpenedInvocation(statement, invocation)

    def judge_signature(
        self, statement: Statement, purpose: KeyPurpose, tenant: TenantRef, memory_namespace: str
    ) -> Refusal | None:
        """None when an issuer key of the purpose and scope signed that is not revoked.

        Else, in this order: ISSUER_UNKNOWN for a key nobody knows, SIGNATURE_INVALID, ISSUER_UNKNOWN for a key of
        another purpose or scope or a payload type that the purpose does not sign, KEY_REVOKED.
        """
        known = self._ring.find(statement.key_id)
        if known is None:
            return Refusal(Reason.ISSUER_UNKNOWN)
        if not self._verified.check(statement, known.public_key):
            return Refusal(Reason.SIGNATURE_INVALID)
        fits = known.key.purpose is purpose and PURPOSES.get(statement.payload_type) == KEY_PURPOSES.encode(purpose)
        if not fits or not known.key.covers(tenant, memory_namespace):
            return Refusal(Reason.ISSUER_UNKNOWN)
        return Refusal(Reason.KEY_REVOKED) if known.key.state is KeyState.REVOKED else None

    def judge_grant_signatures(self, chain: Sequence[OpenedGrant]) -> tuple[Refusal | None, ...]:
        """What is said of each block's signature, root first: as `judge_signature`, or SIGNATURE_INVALID.

        The grant key signs what the authority made. What a holder derived the key signs that the parent binds, and only
        once the parent is believed itself: after a refusal nothing more is verified, and the same is said of the rest.
        """
        refusals: list[Refusal | None] = []
        found: Refusal | None = None
        for parent, block in zip((None, *chain), chain, strict=False):
            found = found or self._judge_grant_signature(block, parent)
            refusals.append(found)
        return tuple(refusals)

    def _judge_grant_signature(self, block: OpenedGrant, parent: OpenedGrant | None) -> Refusal | None:
        if block.terms.delegated_by is None:
            # No memory namespace: a grant can name several, and a key of one of them signs none.
            return self.judge_signature(block.statement, KeyPurpose.GRANT, block.terms.tenant, "")
        try:
            holder_key = _holder_key(parent.terms.holder_public_key if parent else b"")
        except KeyRefused:
            return Refusal(Reason.SIGNATURE_INVALID)
        return None if self._verified.check(block.statement, holder_key) else Refusal(Reason.SIGNATURE_INVALID)

    def is_signed_by(self, statement: Statement, public_key: bytes) -> bool:
        """Whether exactly this key signed the statement; False for a key that `PublicKey` refuses.

        Not remembered: proofs come once, and would push out what comes again.
        """
        try:
            key = _holder_key(public_key)
        except KeyRefused:
            return False
        signed = pae(statement.payload_type, statement.payload)
        return key.key_id == statement.key_id and key.verify(statement.signature, signed)

    def remember(self, statement: Statement, digest: bytes) -> None:
        """Takes in a statement that this process has just signed: it need not be verified when it comes back."""
        self._verified.remember(statement, digest)

    def proposal_digest(self, revision: ProposalRevision) -> bytes:
        """The statement digest of the revision's frozen payload."""
        return statement_digest(PROPOSAL_REVISION, encode(encode_proposal(revision)))

    def fingerprint(self, terms: CommitCapability, presentation: Presentation) -> bytes:
        """The request fingerprint (semantics §4)."""
        return request_fingerprint(
            tenant_namespace=terms.tenant.namespace,
            tenant_id=terms.tenant.id,
            memory_namespace=terms.memory_namespace,
            holder_namespace=terms.holder.namespace,
            holder_id=terms.holder.id,
            audience=terms.audience,
            proposal_id=terms.proposal_id,
            proposal_revision=terms.proposal_revision,
            proposal_digest=to_wire(terms.proposal_digest),
            content_digest=to_wire(presentation.content_digest),
            media_type=presentation.media_type,
            evidence_digests=[to_wire(digest) for digest in presentation.evidence_digests],
            validator_profile=terms.validator_profile,
            validator_profile_version=terms.validator_profile_version,
        )

    def proposal_payload(self, revision: ProposalRevision) -> tuple[str, bytes]:
        """What the proposal digest is reckoned over."""
        return PROPOSAL_REVISION, encode(encode_proposal(revision))

    def digest(self, statement: Statement) -> bytes:
        """The statement digest."""
        return _digest(statement)

    def content_digest(self, content: bytes) -> bytes:
        """SHA-256 over the exact bytes."""
        return sha256(content)

    async def content_problem(self, content: bytes, media_type: str) -> str | None:
        """Why the content's form is refused, as a machine word that holds nothing of the content, or None."""
        if media_type == "application/json":
            return await self._json_problem(content)
        return _text_problem(content) if media_type == "text/plain" else "unsupported_media_type"

    async def _json_problem(self, content: bytes) -> str | None:
        """What was proposed comes again to be validated and committed: a large document is parsed once, not thrice."""
        digest = sha256(content)
        if self._canonical.recall(digest):
            return None
        # A large document would stop every other call for as long as half a second.
        is_large = len(content) > _JUDGED_HERE_BYTES
        problem = await asyncio.to_thread(_canonical_problem, content) if is_large else _canonical_problem(content)
        if problem is None:
            self._canonical.keep(digest)
        return problem


def _digest(statement: Statement) -> bytes:
    return statement_digest(statement.payload_type, statement.payload)


@lru_cache(maxsize=_HOLDER_KEYS)
def _holder_key(raw: bytes) -> PublicKey:
    return PublicKey(raw)


def _canonical_problem(content: bytes) -> str | None:
    try:
        require_canonical(content)
    except NonCanonicalJson as error:
        return error.problem
    return None


def _text_problem(content: bytes) -> str | None:
    if b"\x00" in content:
        return "nul"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "bad_utf8"
    return None
