"""Reads evidence by its digest (semantics §6, evidence.read)."""

from dataclasses import dataclass

from authority.domain.evidence import Evidence, may_read_evidence
from authority.domain.identity import Caller, Right
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.admit import Admit
from authority.usecases.ports import EvidenceStore

_ENOUGH = (Right.READ, Right.DECIDE, Right.PROPOSE)
"""Any of them lets ask; what is answered depends on which."""


@dataclass(frozen=True, slots=True)
class ReadEvidence:
    """NOT_FOUND for what is absent, of another tenant, invisible or not approved yet, alike (case G02)."""

    admit: Admit
    evidence: EvidenceStore

    async def __call__(self, caller: Caller, digest: bytes) -> Evidence | Refusal:
        """The evidence with its content or reference. Refusals: NOT_ALLOWED without any right to it, NOT_FOUND."""
        if refusal := await self.admit(caller):
            return refusal
        if not any(caller.principal.may(right) for right in _ENOUGH):
            return Refusal(Reason.NOT_ALLOWED, {"right": Right.READ.value})
        found = await self.evidence.get(caller.tenant, digest, caller.ref)
        may = found is not None and may_read_evidence(caller.principal, found)
        return found if found and may else Refusal(Reason.NOT_FOUND)
