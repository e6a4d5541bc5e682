"""The ports `EvidenceStore` and `EvidenceReviews`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from authority.domain.evidence import Evidence, EvidenceState, ResolvedEvidence, evidence_event
from authority.domain.identity import Right
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.inprocess.tables import Tables
from authority.usecases.administer import NotTheirs, NotThere
from authority.usecases.ports import RequestMark


@dataclass(frozen=True, slots=True)
class InProcessEvidence:
    """Implements `ports.EvidenceStore` and `ports.EvidenceReviews`."""

    tables: Tables

    async def resolve(
        self, tenant: TenantRef, digests: Sequence[bytes], reader: PrincipalRef
    ) -> Mapping[bytes, ResolvedEvidence]:
        """What the reader may know of each digest."""
        found = [await self.get(tenant, digest, reader) for digest in digests]
        return {
            it.digest: ResolvedEvidence(
                it.digest, it.state, is_kept=it.content is not None, put_by=it.put_by, signed_by=it.signed_by
            )
            for it in found
            if it
        }

    async def put(self, mark: RequestMark, evidence: Evidence) -> Evidence | Refusal:
        """The evidence as it is kept."""
        answered = self.tables.answered(mark, bytes)
        if isinstance(answered, Refusal):
            return answered
        key = (mark.tenant, evidence.digest)
        kept = self.tables.evidence.setdefault(key, evidence)
        if not kept.says_what(evidence):
            return Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "digest"})
        if kept is evidence:
            self.tables.tell(evidence_event(evidence, mark.trace_id))
        self.tables.answer(mark, evidence.digest)
        return kept

    async def get(self, tenant: TenantRef, digest: bytes, reader: PrincipalRef) -> Evidence | None:
        """The evidence, when the reader may know of it."""
        kept = self.tables.evidence.get((tenant, digest))
        known = self.tables.reader(tenant, reader)
        shown = kept and known and known.is_shown(kept.visibility, kept.visibility_scope, kept.put_by)
        return kept if shown else None

    async def page(
        self, tenant: TenantRef, *, state: EvidenceState | None, after: bytes, size: int
    ) -> Sequence[Evidence]:
        """Evidence in the order of its digests, content left out."""
        found = [
            replace(it, content=None if it.content is None else b"")
            for (of_tenant, digest), it in sorted(self.tables.evidence.items(), key=lambda item: item[0][1])
            if of_tenant == tenant and digest > after and state in (None, it.state)
        ]
        return found[:size]

    async def decide(
        self, tenant: TenantRef, digest: bytes, state: EvidenceState, *, by: PrincipalRef, note: str, now: Instant
    ) -> None:
        """Approves or rejects it, once."""
        kept = self.tables.evidence.get((tenant, digest))
        if kept is None or kept.state is not EvidenceState.PENDING:
            raise NotThere
        judge = self.tables.active_principal(tenant, by)
        if judge is None or not judge.may(Right.DECIDE) or kept.put_by in self.tables.person(tenant, by):
            raise NotTheirs
        decided = replace(kept, state=state, decided_by=by, decide_time=now, note=note)
        self.tables.evidence[tenant, digest] = decided
        self.tables.tell(evidence_event(decided))
