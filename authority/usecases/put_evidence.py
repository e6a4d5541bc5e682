"""Keeps evidence that proposals can name by its digest (semantics §7)."""

from dataclasses import dataclass

from authority.domain.evidence import Evidence, EvidenceClaim
from authority.domain.identity import Caller, Right, require
from authority.domain.proposal import Visibility
from authority.domain.reasons import Reason
from authority.domain.references import PrincipalRef
from authority.domain.refusal import Refusal, binding_mismatch
from authority.domain.statement import Statement
from authority.usecases.admit import Admit
from authority.usecases.ports import (
    Clock,
    EvidenceScreen,
    EvidenceStore,
    Memberships,
    Registry,
    RequestMark,
    Statements,
)
from authority.usecases.said_memory import judge_scope


@dataclass(frozen=True, slots=True)
class EvidenceRequest:
    """What is put: bytes, or a reference to bytes with this digest. Without a visibility it is private."""

    mark: RequestMark
    content: bytes | None
    reference: str | None
    digest: bytes
    media_type: str
    visibility: Visibility
    visibility_scope: str
    claim: Statement | None


@dataclass(frozen=True, slots=True)
class PutEvidence:
    """Keeps evidence as PENDING. Who puts it never approves it: an operator enters what another person decided."""

    admit: Admit
    statements: Statements
    registry: Registry
    memberships: Memberships
    screen: EvidenceScreen
    evidence: EvidenceStore
    clock: Clock

    async def __call__(self, caller: Caller, request: EvidenceRequest) -> Evidence | Refusal:
        """The evidence as it is kept, which the same principal put under the same terms first.

        Refusals: MALFORMED; NOT_ALLOWED without the right to propose, for a channel or team that is not the caller's,
        and for content that holds a secret, or for others than its putter personal data; BINDING_MISMATCH for a claim
        of something else, SIGNATURE_INVALID and ISSUER_UNKNOWN for one that no active key of its signer made;
        IDEMPOTENCY_CONFLICT `request_id` or `digest`.
        """
        if refusal := await self.admit(caller) or require(caller, Right.PROPOSE):
            return refusal
        if refusal := await judge_scope(self.memberships, caller, request.visibility, request.visibility_scope):
            return refusal
        signer = await self._signer(caller, request)
        if isinstance(signer, Refusal):
            return signer
        if refusal := await self._screened(request):
            return refusal
        evidence = Evidence(
            tenant=caller.tenant,
            digest=request.digest,
            media_type=request.media_type,
            content=request.content,
            reference=request.reference,
            put_by=caller.ref,
            visibility=request.visibility,
            visibility_scope=request.visibility_scope,
            signed_by=signer,
            statement=request.claim,
            put_time=self.clock.now(),
        )
        return await self.evidence.put(request.mark, evidence)

    async def _screened(self, request: EvidenceRequest) -> Refusal | None:
        """No secret is kept for anybody, and nobody's data for others than who put it: it is to be redacted before."""
        if request.content is None:
            return None
        found = await self.screen(request.content, request.media_type)
        is_private = request.visibility is Visibility.PRIVATE
        problem = found.secret or ("" if is_private else found.personal_data)
        return Refusal(Reason.NOT_ALLOWED, {"field": "content", "problem": problem}) if problem else None

    async def _signer(self, caller: Caller, request: EvidenceRequest) -> PrincipalRef | Refusal | None:
        """Who vouches for the bytes, if anybody does; whoever puts them may be another."""
        if request.claim is None:
            return None
        claim = self.statements.open_evidence_claim(request.claim)
        if isinstance(claim, Refusal):
            return claim
        key = await self.registry.active_key(caller.tenant, claim.signer, request.claim.key_id)
        if key is None:
            return Refusal(Reason.ISSUER_UNKNOWN)
        if not self.statements.is_signed_by(request.claim, key.public_key):
            return Refusal(Reason.SIGNATURE_INVALID)
        return _judge_claim(claim, caller, request) or claim.signer


def _judge_claim(claim: EvidenceClaim, caller: Caller, request: EvidenceRequest) -> Refusal | None:
    said: tuple[tuple[str, object, object], ...] = (
        ("tenant", claim.tenant, caller.tenant),
        ("content_digest", claim.content_digest, request.digest),
        ("media_type", claim.media_type, request.media_type),
    )
    return next((binding_mismatch(term) for term, claimed, put in said if claimed != put), None)
